"""Help: every key of the screen it was asked from."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Cell, Line, TextView

from .keys import Key

_TWO_FAILURES: tuple[Line, ...] = (
    (),
    (Cell("Two failures, two recoveries", bold=True),),
    (Cell("  D  drain      ", "accent", bold=True), Cell("recovers self: restarted under its name, never drained")),
    (Cell("  A  autoclaim  ", "accent", bold=True), Cell("recovers peers: a consumer that never comes back")),
    (Cell("  Every write is planned, confirmed, and recorded in the audit log.", "dim"),),
)


class HelpScreen(ModalScreen[None]):
    """Lists keys; any of Esc, Enter, q and ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,question_mark", "dismiss", "Close", show=False),
    ]

    def __init__(self, title: str, keys: tuple[Key, ...], *, read_only: bool) -> None:
        super().__init__()
        self._view = TextView((*_lines(title, keys, read_only), *_TWO_FAILURES))

    def compose(self) -> ComposeResult:
        """The list."""
        with Vertical(id="help"):
            yield TextPanel(self._view, id="help-text")

    def on_mount(self) -> None:
        """Let the arrow keys scroll."""
        for panel in self.query(TextPanel):  # none, where the next key has closed it already
            panel.focus()

    async def action_dismiss(self, result: None = None) -> None:
        """Close."""
        self.dismiss(result)


def _lines(title: str, keys: tuple[Key, ...], read_only: bool) -> tuple[Line, ...]:
    lines: list[Line] = [(Cell(f"Keys: {title}", bold=True),), ()]
    for key in keys:
        note = "  (read-only: off)" if key.writes and read_only else ""
        label = Cell(f"  {key.label:<6}", "warn" if key.writes else "accent", bold=True)
        lines.append((label, Cell(key.sentence), Cell(note, "dim")))
    return tuple(lines)
