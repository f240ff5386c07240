"""Groups: the opening screen. Is anything stuck, where, since when, and what should I do?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.events import DescendantBlur, DescendantFocus, Resize
from textual.message import Message
from textual.widgets import Input, Static

from echomq_console.model.action import Target
from echomq_console.model.text import harmless
from echomq_console.present.findings import findings_text, folded, nothing_found
from echomq_console.present.groups import COLUMNS, GroupLine, groups_view, summary_line, vanished_lines
from echomq_console.present.names import group_label
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.table import WindowedTable
from echomq_widgets.table_messages import RowHighlighted, RowSelected, SortWanted
from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Cell, HeaderView, TableView, TextView

from .base import TALL, ConsoleScreen, target_of_finding
from .keys import EVERYWHERE, FILTERING, GROUPS, TABLE, Key, bindings
from .picture import Picture

BESIDE = 170
"""Columns from which the findings stand beside the groups."""

_SORTS: tuple[str | None, ...] = (None, *(column.key for column in COLUMNS if column.sortable))


FRAME = 5
"""Lines around the groups and the findings: header, trouble, summary, rule, keys."""

LEAST_EXPLAINED = 9
"""Lines below which an explanation would be cut off, and its one-line form says more."""


class GroupsScreen(ConsoleScreen):
    """Every group of the server, worst first, and what is wrong with the one under the cursor."""

    KEYS: ClassVar[tuple[Key, ...]] = (*GROUPS, *TABLE, *EVERYWHERE)
    TITLE_WORDS = "Groups"
    BINDINGS: ClassVar[list[BindingType]] = bindings(GROUPS, EVERYWHERE)

    class Opened(Message):
        """An operator opens a group."""

        def __init__(self, stream: bytes, group: bytes) -> None:
            super().__init__()
            self.stream = stream
            self.group = group

    _sort: str | None = None
    _descending = True
    _has_moved = False

    def compose_content(self) -> ComposeResult:
        """Summary, table, findings, and the filter's field where it is wanted."""
        yield HeaderBar(id="summary")
        with Container(id="both"):
            yield WindowedTable(id="groups")
            yield TextPanel(id="findings")
        yield HeaderBar(id="folded")
        with Horizontal(id="filter-row"):
            yield Static("filter", markup=False)
            yield Input(placeholder="text in a stream's or a group's name", id="filter", compact=True)

    def start(self) -> None:
        """Start with the table in hand."""
        self.query_one("#filter-row").display = False
        self.query_one(WindowedTable).focus()
        self._lay_out()

    @on(Resize)
    def _lay_out(self) -> None:
        """Where it is wide the findings stand beside the groups, else below, and on a small screen in one line."""
        if not self.is_laid_out:
            return
        self.query_one("#both").set_class(self._is_wide, "wide")
        self._share_room()
        self._explain()

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= BESIDE and self.size.height >= TALL

    def show_picture(self, picture: Picture) -> None:
        """Draw the groups; the cursor stays on its group."""
        super().show_picture(picture)
        if not self.is_laid_out:
            return
        snapshot = picture.snapshot
        table = self.query_one(WindowedTable)
        if snapshot is None:
            waiting = "connecting…" if picture.error is None else "no picture of this server yet"
            table.update_view(TableView(COLUMNS, (), empty=(Cell(waiting, "dim"),)))
            return
        view = groups_view(
            snapshot,
            picture.findings,
            picture.history,
            thresholds=self.thresholds,
            sort=self._sort,
            descending=self._descending,
            keep=self._filter(),
        )
        if snapshot.vanished and not snapshot.streams:
            view = replace(view, empty=(Cell("everything that was here is gone", "warn"),))
        table.update_view(view)
        if not self._has_moved and table.cursor_position != 0:
            table.move_cursor_to_position(0)  # until the operator moves, the cursor is on the worst
        self.query_one("#summary", HeaderBar).update_view(
            HeaderView((Cell(" "), *summary_line(snapshot, picture.findings)), self._order_words())
        )
        self._share_room()
        self._explain()

    def _share_room(self) -> None:
        """Below the groups, the findings stand right under them; a long list leaves them two fifths of the screen."""
        table = self.query_one(WindowedTable)
        wanted = max(table.view.total, 1) + 2
        below = self.size.height >= TALL or self.size.height - wanted - FRAME >= LEAST_EXPLAINED
        self.query_one("#findings").display = below
        self.query_one("#folded").display = not below
        if self._is_wide or not below:
            table.styles.height = "1fr"
        else:
            table.styles.height = min(wanted, self.size.height * 3 // 5)

    def groups_on_screen(self) -> Sequence[tuple[bytes, bytes]]:
        """The groups that the table shows just now."""
        table = self.query_one(WindowedTable)
        top = round(table.scroll_y)
        return [row.key for row in table.view.rows[top : top + table.size.height] if isinstance(row.key, tuple)]

    @on(RowHighlighted)
    def _highlighted(self) -> None:
        self._explain()

    def on_key(self) -> None:
        """Any key counts as taking the cursor in hand."""
        self._has_moved = True

    def on_mouse_down(self) -> None:
        """So does a click."""
        self._has_moved = True

    @on(RowSelected)
    def _selected(self, event: RowSelected) -> None:
        event.stop()
        if isinstance(event.key, tuple):
            self.post_message(self.Opened(*event.key))

    @on(SortWanted)
    def _sort_wanted(self, event: SortWanted) -> None:
        event.stop()
        self._descending = not self._descending if self._sort == event.column_key else True
        self._sort = event.column_key
        self.show_picture(self.picture)

    def action_sort(self) -> None:
        """Sort by the next column; after the last, worst first again."""
        self._sort = _SORTS[(_SORTS.index(self._sort) + 1) % len(_SORTS)]
        self._descending = self._sort != "group"
        self.show_picture(self.picture)

    def action_filter(self) -> None:
        """Open the filter's field."""
        self.query_one("#filter-row").display = True
        self.set_focus(self.query_one("#filter"))  # at once: the keys behind this one are meant for the field

    @on(Input.Changed)
    def _filtered(self) -> None:
        self.show_picture(self.picture)

    @on(Input.Submitted)
    def _filter_done(self) -> None:
        self.query_one("#filter-row").display = bool(self.query_one("#filter", Input).value)
        self.query_one(WindowedTable).focus()

    def action_all(self) -> None:
        """Leave the filter, and show what it hid."""
        self.query_one("#filter", Input).value = ""
        self.query_one("#filter-row").display = False
        self.query_one(WindowedTable).focus()

    def footer_keys(self) -> Sequence[Key]:
        """While a text is typed, only the keys that are not typed."""
        return FILTERING if self.query_one("#filter").has_focus else super().footer_keys()

    @on(DescendantFocus)
    @on(DescendantBlur)
    def _focus_changed(self) -> None:
        if self.is_laid_out:
            self.draw_keys()

    def action_act_autoclaim(self) -> None:
        """Recover peers of the group under the cursor."""
        key = self._key()
        self.want("autoclaim", None if key is None else Target(*key), "no group under the cursor")

    def action_act_drain(self) -> None:
        """Recover the consumer of this group that was found undrained."""
        key = self._key()
        found = None if key is None else target_of_finding(self.picture.findings_of(key), "undrained")
        target = None if key is None or found is None else Target(*key, consumer=found.consumer)
        self.want("drain", target, "no undrained consumer here: open the group (⏎) and press D on a consumer")

    def action_act_dead_letter(self) -> None:
        """Move the poison entries of this group out of the way."""
        key, snapshot = self._key(), self.picture.snapshot
        group = None if key is None or snapshot is None else snapshot.group(*key)
        poison = () if group is None or group.scan is None else group.scan.poison
        target = Target(*key, ids=tuple(row.id for row in poison)) if key is not None and poison else None
        self.want("dead-letter", target, "no poison entry here: open the group (⏎) and press X on a pending entry")

    def _key(self) -> tuple[bytes, bytes] | None:
        key = self.query_one(WindowedTable).cursor_key
        return key if isinstance(key, tuple) else None

    def _explain(self) -> None:
        key, snapshot = self._key(), self.picture.snapshot
        line, text = HeaderView(()), TextView(())
        if key is not None and snapshot is not None:
            findings, keys = self.picture.findings_of(key), not self.read_only
            nothing = nothing_found(snapshot.group(*key))
            text = findings_text(group_label(*key), findings, nothing, keys=keys)
            line = folded(findings, nothing, self.size.width, keys=keys)
        elif snapshot is not None and snapshot.vanished:
            lines = vanished_lines(snapshot)
            text, line = TextView(lines), HeaderView((Cell(" "), *lines[0], *lines[1]))
        self.query_one("#findings", TextPanel).update_view(text)
        self.query_one("#folded", HeaderBar).update_view(line)

    def _filter(self) -> Callable[[GroupLine], bool] | None:
        wanted = self.query_one("#filter", Input).value.casefold().strip()
        if not wanted:
            return None
        return lambda line: wanted in f"{group_label(*line.key)} {harmless(line.key[0])}".casefold()

    def _order_words(self) -> tuple[Cell, ...]:
        if self._sort is None:
            return (Cell("worst first ", "dim"),)
        title = next(column.title for column in COLUMNS if column.key == self._sort)
        return (Cell(f"by {title} {'▼' if self._descending else '▲'} ", "dim"),)
