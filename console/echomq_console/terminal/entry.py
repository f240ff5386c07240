"""Entry: every pair, its identity, and where it is in each group of the stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from echomq_console.model.finding import Thresholds
from echomq_console.model.text import harmless
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Cell, HeaderView, TextView

from .base import WIDE, ConsoleScreen
from .keys import ENTRY, EVERYWHERE, Key, bindings
from .picture import Picture

if TYPE_CHECKING:
    from textual.worker import Worker

Look = Callable[[], Awaitable[tuple[TextView, TextView]]]
"""Gives both sides of an entry as they are now. Raises a ServerError."""


class EntryScreen(ConsoleScreen):
    """One entry in full: what is in it, and where it is."""

    KEYS: ClassVar[tuple[Key, ...]] = (*ENTRY, *EVERYWHERE)
    TITLE_WORDS = "Entry"
    BINDINGS: ClassVar[list[BindingType]] = bindings(ENTRY, EVERYWHERE)

    def __init__(
        self,
        thresholds: Thresholds,
        picture: Picture,
        title: str,
        pairs: TextView,
        whereabouts: TextView,
        *,
        look: Look | None,
        read_only: bool,
    ) -> None:
        """`look` gives both sides anew; None where they never change."""
        super().__init__(thresholds, picture, read_only=read_only)
        self._title = title
        self._pairs = pairs
        self._whereabouts = whereabouts
        self._look = look
        self._looker: Worker[None] | None = None

    def compose_content(self) -> ComposeResult:
        """What is in it on the left (above, where it is narrow), where it is on the right."""
        yield HeaderBar(HeaderView((Cell(" ‹ ", "dim"), Cell(self._title, bold=True))), id="summary")
        with Container(id="entry"):
            yield TextPanel(self._pairs, id="pairs")
            yield TextPanel(self._whereabouts, id="whereabouts")

    def start(self) -> None:
        """Let the arrow keys scroll the pairs."""
        self.query_one("#pairs").focus()

    def on_resize(self) -> None:
        """Side by side where there is room, else where it is gets what it needs of the height, up to three fifths."""
        if not self.is_laid_out:
            return
        wide = self.size.width >= WIDE
        self.query_one("#entry").set_class(wide, "wide")
        where = self.query_one("#whereabouts")
        where.styles.height = "1fr" if wide else min(len(self._whereabouts.lines) + 1, self.size.height * 3 // 5)

    def show_picture(self, picture: Picture) -> None:
        """Look anew with every picture: an entry moves on."""
        super().show_picture(picture)
        if self.is_laid_out and self._look is not None and (self._looker is None or self._looker.is_finished):
            self._looker = self._look_again(self._look)

    @work(exclusive=True, group="entry")
    async def _look_again(self, look: Look) -> None:
        from echomq_console.server.errors import ServerError

        try:
            self._pairs, self._whereabouts = await look()
            shown = self._whereabouts
        except ServerError as error:
            note = (Cell(f"✕ not known just now: {harmless(str(error), 300)}", "bad"),)
            shown = TextView((*self._whereabouts.lines, (), note))
        if self.is_laid_out:
            self.query_one("#pairs", TextPanel).update_view(self._pairs)
            self.query_one("#whereabouts", TextPanel).update_view(shown)

    def action_back(self) -> None:
        """Back to where the entry was opened."""
        self.app.pop_screen()
