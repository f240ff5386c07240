"""Drawing the lines of a table, each only once as long as its cells stay the same."""

from __future__ import annotations

from typing import Final, Literal

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from echomq_widgets.columns import GAP, Place, Places
from echomq_widgets.lines import ELLIPSIS, crop, fit
from echomq_widgets.tones import Palette
from echomq_widgets.views import Cell

CURSOR_SIGN: Final = "▸"
MARK_SIGN: Final = "✓"
ASCENDING_SIGN: Final = "▲"
DESCENDING_SIGN: Final = "▼"

Look = tuple[tuple[Cell, ...] | None, bool, bool]
"""What a line of the table shows: the cells (None: not loaded), whether it is marked, whether the cursor is on it."""


class RowPainter:
    """Draws header, rows and placeholders for the columns it was given."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._places = Places(0, ())
        self._width = 0
        self._strips: LRUCache[Look, Strip] = LRUCache(2048)

    @property
    def places(self) -> Places:
        """The columns that are drawn."""
        return self._places

    def set_places(self, places: Places, width: int) -> bool:
        """Draw these columns from now on, in lines of `width` cells; says whether that is different from before."""
        if (places, width) == (self._places, self._width):
            return False
        self._places, self._width = places, width
        self._strips.clear()
        return True

    def clear(self) -> None:
        """Forget every drawn line, because the styles changed."""
        self._strips.clear()

    def strip(self, look: Look) -> Strip:
        """Give the strip of a line, drawing it only when no line looked like it before."""
        strip = self._strips.get(look)
        if strip is None:
            strip = self._strips[look] = self.paint(look)
        return strip

    def paint(self, look: Look) -> Strip:
        """Draw a line."""
        cells, marked, cursor = look
        on = self._palette.component("table--cursor") if cursor else None
        plain = _on(self._palette.style("plain"), on)
        segments = self._gutter(marked, cursor, on)
        for number, place in enumerate(self._places.shown):
            if cells is None:
                text, style = fit(ELLIPSIS, place.width, place.column.align), _on(self._palette.style("dim"), on)
            elif place.index < len(cells):
                cell = cells[place.index]
                text = fit(cell.text, place.width, place.column.align)
                tone = "plain" if cursor and cell.tone == "dim" else cell.tone
                style = _on(self._palette.style(tone, cell.bold), on)
            else:
                text, style = " " * place.width, plain
            if number:
                segments.append(Segment(" " * GAP, plain))
            segments.append(Segment(text, style))
        return Strip(segments).simplify().adjust_cell_length(self._width, plain)

    def header(self, sort: str | None, descending: bool) -> Strip:
        """Draw the titles, with the arrow of the direction beside the column that the rows are sorted by."""
        plain = self._palette.component("table--header")
        segments = [Segment(" " * self._places.gutter, plain)]
        for number, place in enumerate(self._places.shown):
            if number:
                segments.append(Segment(" " * GAP, plain))
            if place.column.key == sort:
                sign = DESCENDING_SIGN if descending else ASCENDING_SIGN
                segments.append(Segment(_title(place, sign), self._palette.component("table--sorted")))
            else:
                segments.append(Segment(fit(place.column.title, place.width, place.column.align), plain))
        return Strip(segments).adjust_cell_length(self._width, plain)

    def _gutter(self, marked: bool, cursor: bool, on: Style | None) -> list[Segment]:
        accent = _on(self._palette.style("accent", bold=True), on)
        sign = CURSOR_SIGN if cursor else " "
        if self._places.gutter < 3:
            return [Segment(fit(sign, self._places.gutter), accent)]
        return [Segment(fit(sign + (MARK_SIGN if marked else ""), self._places.gutter), accent)]


def _title(place: Place, sign: str) -> str:
    if place.width < 3:
        return fit(sign, place.width, place.column.align)
    title = crop(place.column.title, place.width - 2)
    together: Literal["left", "right"] = place.column.align
    return fit(f"{sign} {title}" if together == "right" else f"{title} {sign}", place.width, together)


def _on(style: Style, cursor: Style | None) -> Style:
    """Put a style on the cursor's row. Where the cursor is drawn in reverse, hues would turn into a patchwork."""
    if cursor is None:
        return style
    if cursor.reverse:
        return cursor
    return style + Style(bgcolor=cursor.bgcolor, bold=cursor.bold or None)
