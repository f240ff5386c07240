"""What every screen has: the header, the line for trouble, the footer with its keys, and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen

from echomq_console.model.action import Target
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.present.header import Link, header_view, trouble_line
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.views import Cell, HeaderView

from .keys import EVERYWHERE, Key
from .messages import ActionWanted, RefreshWanted
from .picture import Picture

WIDE = 100
"""Columns from which a screen shows two things side by side, or one above the other in full."""

TALL = 30
"""Lines from which there is room for explanations."""


class ConsoleScreen(Screen[None]):
    """The base of the console's screens. A screen draws what it is shown; it knows no server."""

    KEYS: ClassVar[tuple[Key, ...]] = ()
    TITLE_WORDS: ClassVar[str] = ""

    def __init__(self, thresholds: Thresholds, picture: Picture, *, read_only: bool) -> None:
        super().__init__()
        self.thresholds = thresholds
        self.picture = picture
        self.read_only = read_only

    def compose(self) -> ComposeResult:
        """Lay the frame around the screen's own content."""
        yield HeaderBar(id="server")
        yield HeaderBar(id="trouble")
        yield from self.compose_content()
        yield HeaderBar(HeaderView(self._footer_keys()), id="keys")

    def compose_content(self) -> ComposeResult:
        """The screen's own content."""
        yield from ()

    def show_link(self, link: Link, title: str | None) -> None:
        """Draw the header and, where there is trouble, its line."""
        if not self.is_mounted:
            return
        self.query_one("#server", HeaderBar).update_view(
            header_view(link, self.thresholds, read_only=self.read_only, title=title)
        )
        line = trouble_line(link)
        trouble = self.query_one("#trouble", HeaderBar)
        trouble.display = line is not None
        if line is not None:
            trouble.update_view(HeaderView(line))
        self.set_class(link.error is not None, "stale")

    def show_picture(self, picture: Picture) -> None:
        """Take a new picture and draw it."""
        self.picture = picture

    def groups_on_screen(self) -> Sequence[tuple[bytes, bytes]]:
        """The groups (stream, name) an operator looks at just now."""
        return ()

    def want(self, action: str, target: Target | None, hint: str) -> None:
        """Ask for an action, or say what to do first where there is no target."""
        if target is None:
            self.notify(hint, markup=False)
        else:
            self.post_message(ActionWanted(action, target))

    def action_refresh(self) -> None:
        """Look again now."""
        self.post_message(RefreshWanted())

    def action_help(self) -> None:
        """List the keys of this screen."""
        from .help import HelpScreen

        self.app.push_screen(HelpScreen(self.TITLE_WORDS, self.KEYS, read_only=self.read_only))

    def _footer_keys(self) -> tuple[Cell, ...]:
        """The keys, the two that must never be cut off first."""
        ordered = [k for k in EVERYWHERE if k.word in ("help", "quit")]
        ordered += [k for k in self.KEYS if k.word and k not in ordered and not (self.read_only and k.writes)]
        cells: list[Cell] = []
        for key in ordered:
            cells += [Cell(f" {key.label} ", "accent", bold=True), Cell(f"{key.word}  ", "dim")]
        return tuple(cells)


def target_of_finding(findings: Sequence[Finding], rule: str) -> Finding | None:
    """The worst finding of a rule."""
    return next((finding for finding in findings if finding.rule == rule), None)
