"""Entry: every pair, its identity, and where it is in each group of the stream."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from echomq_console.model.finding import Thresholds
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Cell, HeaderView, TextView

from .base import WIDE, ConsoleScreen
from .keys import ENTRY, EVERYWHERE, Key, bindings
from .picture import Picture


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
        read_only: bool,
    ) -> None:
        super().__init__(thresholds, picture, read_only=read_only)
        self._title = title
        self._pairs = pairs
        self._whereabouts = whereabouts

    def compose_content(self) -> ComposeResult:
        """What is in it on the left (above, where it is narrow), where it is on the right."""
        yield HeaderBar(HeaderView((Cell(" ‹ ", "dim"), Cell(self._title, bold=True))), id="summary")
        with Container(id="entry"):
            yield TextPanel(self._pairs, id="pairs")
            yield TextPanel(self._whereabouts, id="whereabouts")

    def on_mount(self) -> None:
        """Let the arrow keys scroll the pairs."""
        self.query_one("#pairs").focus()

    def on_resize(self) -> None:
        """Side by side where there is room."""
        self.query_one("#entry").set_class(self.size.width >= WIDE, "wide")

    def action_back(self) -> None:
        """Back to where the entry was opened."""
        self.app.pop_screen()
