"""A table over any number of rows: it holds a window of them, draws what is seen, and keeps its cursor by key."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from echomq_widgets import table_messages
from echomq_widgets.columns import place_columns
from echomq_widgets.lines import line_width
from echomq_widgets.table_paint import Look, RowPainter
from echomq_widgets.tones import TONE_CLASSES, Palette, tone_css
from echomq_widgets.views import Cell, Row, TableView

_LEAST_WINDOW = 200


class WindowedTable(ScrollView, can_focus=True):
    """A table on the line API.

    `update_view` replaces the rows: the cursor and the marks stay on their keys, and the row under the cursor keeps
    its place on the screen. Rows outside the window are shown as `…`, and `WindowWanted` asks for them. What was asked
    is asked once: whoever answers keeps giving the wanted window until another is asked for.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", "table--sorted", "table--cursor", *TONE_CLASSES}
    DEFAULT_CSS = """
    WindowedTable {
        height: 1fr;
        background: transparent;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-color: $foreground 25%;
        scrollbar-background: $foreground 5%;
        &:ansi { scrollbar-color: $scrollbar; scrollbar-background: $scrollbar-background; }
        & > .table--header { color: $foreground 62%; }
        & > .table--sorted { color: $foreground; text-style: bold; }
        & > .table--cursor { background: $primary 18%; text-style: bold; }
        &:focus > .table--cursor { background: $primary 30%; }
        &:ansi > .table--header { color: ansi_default; text-style: dim; }
        &:ansi > .table--cursor { background: ansi_default; text-style: bold; }
        &:ansi:focus > .table--cursor, &:nocolor:focus > .table--cursor { text-style: bold reverse; }
    }
    """ + tone_css("WindowedTable")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor_by(-1)", "Up", show=False),
        Binding("down,j", "cursor_by(1)", "Down", show=False),
        Binding("pageup", "cursor_page(-1)", "Page up", show=False),
        Binding("pagedown", "cursor_page(1)", "Page down", show=False),
        Binding("home", "cursor_home", "First", show=False),
        Binding("end", "cursor_end", "Last", show=False),
        Binding("enter", "select", "Look", show=False),
        Binding("space", "toggle_mark", "Mark", show=False),
    ]

    RowHighlighted = table_messages.RowHighlighted
    RowSelected = table_messages.RowSelected
    WindowWanted = table_messages.WindowWanted
    SortWanted = table_messages.SortWanted
    MarksChanged = table_messages.MarksChanged

    def __init__(
        self,
        view: TableView | None = None,
        *,
        markable: bool = False,
        show_cursor: bool = True,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.markable = markable
        self.show_cursor = show_cursor
        self.can_focus = show_cursor
        self._view = view or TableView((), ())
        self._positions = _positions(self._view)
        self._cursor = 0
        self._cursor_key: Hashable | None = None
        self._announced: tuple[Hashable | None] | None = None
        self._marked: frozenset[Hashable] = frozenset()
        self._wanted: range | None = None
        self._ready = False
        self._palette = Palette(self)
        self._painter = RowPainter(self._palette)

    # -- what it shows ----------------------------------------------------------------------------------------------

    @property
    def view(self) -> TableView:
        """The view that is shown."""
        return self._view

    @property
    def cursor_key(self) -> Hashable | None:
        """The key of the row under the cursor; None where there is no row, or it is not loaded yet."""
        return self._cursor_key

    @property
    def cursor_position(self) -> int:
        """The position of the cursor in the whole list."""
        return self._cursor

    @property
    def marked(self) -> frozenset[Hashable]:
        """The keys that are marked, shown or not."""
        return self._marked

    def update_view(self, view: TableView) -> None:
        """Show other rows; cursor, marks and the place on the screen stay with the keys."""
        anchor = self._anchor()
        before = self._looks()
        titles_changed = (view.columns, view.sort, view.descending) != (
            self._view.columns,
            self._view.sort,
            self._view.descending,
        )
        was_empty = not self._view.total
        self._view = view
        self._positions = _positions(view)
        self._follow_key()
        self._measure()
        self._keep_place(anchor)
        if titles_changed or was_empty or not view.total:
            self.refresh()
        else:
            self._refresh_changed(before)
        self._announce()
        self._ask_window()

    def move_cursor_to(self, key: Hashable) -> bool:
        """Put the cursor on a key and show it; says whether the key is in the window."""
        position = self._positions.get(key)
        if position is None:
            return False
        self.move_cursor_to_position(position)
        return True

    def move_cursor_to_position(self, position: int) -> None:
        """Put the cursor on a position of the whole list and show it."""
        before = self._looks()
        self._cursor = max(0, min(position, self._view.total - 1))
        row = self._row_at(self._cursor)
        self._cursor_key = row.key if row else None
        self._show_cursor_row()
        self._refresh_changed(before)
        self._announce()
        self._ask_window()

    def clear_marks(self) -> None:
        """Mark nothing."""
        self._mark(frozenset())

    def mark_all(self, keys: Iterable[Hashable]) -> None:
        """Mark these keys beside those that are marked."""
        self._mark(self._marked | frozenset(keys))

    def unmark(self, keys: Iterable[Hashable]) -> None:
        """Take the marks of these keys away."""
        self._mark(self._marked - frozenset(keys))

    # -- keys and mouse ---------------------------------------------------------------------------------------------

    def action_cursor_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        if self._view.total:
            self.move_cursor_to_position(self._cursor + lines)

    def action_cursor_page(self, pages: int) -> None:
        """Move the cursor by a screenful, and the rows with it."""
        step = pages * max(1, self._body_height - 1)
        self.scroll_to(y=self.scroll_offset.y + step, animate=False, force=True)
        self.action_cursor_by(step)

    def action_cursor_home(self) -> None:
        """Move the cursor to the first row."""
        self.action_cursor_by(-self._cursor)

    def action_cursor_end(self) -> None:
        """Move the cursor to the last row."""
        self.action_cursor_by(self._view.total)

    def action_select(self) -> None:
        """Say that the row under the cursor is selected."""
        if self._cursor_key is not None:
            self._show_cursor_row()
            self.post_message(self.RowSelected(self, self._cursor_key))

    def action_toggle_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away."""
        if self.markable and self._cursor_key is not None:
            self._mark(self._marked ^ {self._cursor_key})

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse clicks, or ask to sort by the title that was clicked."""
        place = event.get_content_offset(self)
        if place is None or not self.show_cursor:
            return
        event.stop()
        if place.y == 0:
            column = self._painter.places.at(place.x)
            if column is not None and column.sortable:
                self.post_message(self.SortWanted(self, column.key))
            return
        position = self.scroll_offset.y + place.y - 1
        if position >= self._view.total:
            return
        again = event.chain == 2 and position == self._cursor
        self.move_cursor_to_position(position)
        if again:
            self.action_select()

    # -- drawing ----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw a line of the widget: the titles, or what stands at that height."""
        if y == 0:
            return self._painter.header(self._view.sort, self._view.descending)
        if self._view.total == 0 and y == max(1, self.size.height // 2):
            indent = max(0, (self.size.width - line_width(self._view.empty)) // 2)
            return self._palette.line((Cell(" " * indent), *self._view.empty), self.size.width)
        look = self._look(self.scroll_offset.y + y - 1)
        if look is None:
            return Strip.blank(self.size.width, self._palette.style("plain"))
        return self._painter.strip(look)

    def notify_style_update(self) -> None:
        """Draw everything anew when the theme or the focus changes the styles."""
        super().notify_style_update()
        self._palette.clear()
        self._painter.clear()

    def on_mount(self) -> None:
        """Take the first view in."""
        self._ready = True
        self._follow_key()
        self._measure()
        self._announce()

    def on_resize(self) -> None:
        """Place the columns anew, and keep the cursor in sight where it was."""
        self._measure()
        if self._cursor >= self.scroll_offset.y + self._body_height:
            self._show_cursor_row()
        self._ask_window()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for the rows that came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._ask_window()

    # -- inner ------------------------------------------------------------------------------------------------------

    @property
    def _body_width(self) -> int:
        """The width beside the scrollbar, whose room is always left, so that no column moves when it comes."""
        return max(0, self.size.width - self.styles.scrollbar_size_vertical)

    @property
    def _body_height(self) -> int:
        return max(0, self.size.height - 1)

    def _row_at(self, position: int) -> Row | None:
        place = position - self._view.offset
        return self._view.rows[place] if 0 <= place < len(self._view.rows) else None

    def _look(self, position: int) -> Look | None:
        if not 0 <= position < self._view.total:
            return None
        row = self._row_at(position)
        on_cursor = self.show_cursor and position == self._cursor
        return (row.cells, row.key in self._marked, on_cursor) if row else (None, False, on_cursor)

    def _looks(self) -> list[Look | None]:
        top = self.scroll_offset.y
        return [self._look(top + line) for line in range(self._body_height)]

    def _refresh_changed(self, before: list[Look | None]) -> None:
        for line, (old, new) in enumerate(zip(before, self._looks(), strict=False)):
            if old != new:
                self.refresh_line(self.scroll_offset.y + line + 1)

    def _anchor(self) -> tuple[Hashable, int] | None:
        """Say which key has to keep which line: the cursor's where it is in sight, else the first row that is."""
        top = self.scroll_offset.y
        if self.show_cursor and self._cursor_key in self._positions and 0 <= self._cursor - top < self._body_height:
            return self._cursor_key, self._cursor - top
        for line in range(self._body_height):
            row = self._row_at(top + line)
            if row is not None:
                return row.key, line
        return None

    def _keep_place(self, anchor: tuple[Hashable, int] | None) -> None:
        if not self._ready:
            return
        position = None if anchor is None else self._positions.get(anchor[0])
        top = self.scroll_offset.y if position is None or anchor is None else position - anchor[1]
        self.scroll_to(y=top, animate=False, force=True)

    def _follow_key(self) -> None:
        view = self._view
        found = self._positions.get(self._cursor_key) if self._cursor_key is not None else None
        if found is not None:
            self._cursor = found
            return
        self._cursor = max(0, min(self._cursor, view.total - 1))
        row = self._row_at(self._cursor)
        if row is not None or self._cursor_key is None or not view.total:
            self._cursor_key = row.key if row else None

    def _measure(self) -> None:
        if not self._ready:
            return
        width = self._body_width
        if self._painter.set_places(place_columns(self._view.columns, width, 3 if self.markable else 2), width):
            self.refresh()
        size = Size(width, self._view.total + 1)
        if size != self.virtual_size:
            self.virtual_size = size

    def _show_cursor_row(self) -> None:
        top, height = self.scroll_offset.y, self._body_height
        if height and not top <= self._cursor < top + height:
            target = self._cursor if self._cursor < top else self._cursor - height + 1
            self.scroll_to(y=target, animate=False, force=True)

    def _announce(self) -> None:
        if self._ready and self._announced != (self._cursor_key,):
            self._announced = (self._cursor_key,)
            self.post_message(self.RowHighlighted(self, self._cursor_key))

    def _ask_window(self) -> None:
        view, height = self._view, self._body_height
        if not self._ready or not height:
            return
        first = max(0, min(self.scroll_offset.y, view.total - height))
        seen = range(first, min(view.total, first + height))
        have = range(view.offset, view.offset + len(view.rows))
        near = range(max(0, seen.start - height), min(view.total, seen.stop + height))
        if _within(near, have):
            self._wanted = None
            return
        if self._wanted is not None and _within(seen, self._wanted):
            return
        size = max(_LEAST_WINDOW, 4 * height)
        offset = max(0, min(first - (size - height) // 2, view.total - size))
        self._wanted = range(offset, offset + size)
        self.post_message(self.WindowWanted(self, offset, size))

    def _mark(self, marked: frozenset[Hashable]) -> None:
        if marked == self._marked:
            return
        before = self._looks()
        self._marked = marked
        self._refresh_changed(before)
        if self._ready:
            self.post_message(self.MarksChanged(self, marked))


def _positions(view: TableView) -> dict[Hashable, int]:
    return {row.key: view.offset + place for place, row in enumerate(view.rows)}


def _within(inner: range, outer: range) -> bool:
    return outer.start <= inner.start and inner.stop <= outer.stop
