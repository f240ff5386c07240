"""Group: one consumer group. Its consumers, its pending list, its dead letters, its findings in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from echomq_console.model.action import Target
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import GroupState
from echomq_console.model.text import harmless, number
from echomq_console.present.consumers import COLUMNS as CONSUMERS
from echomq_console.present.consumers import consumers_view, delivery_histogram, idle_histogram
from echomq_console.present.dead_letters import COLUMNS as DEAD_LETTERS
from echomq_console.present.dead_letters import dead_letters_view
from echomq_console.present.findings import finding_text, folded, nothing_found
from echomq_console.present.group import group_header, tabs_line
from echomq_console.present.pending import COLUMNS as PENDING
from echomq_console.present.pending import pending_view
from echomq_widgets.header_bar import HeaderBar
from echomq_widgets.histogram import Histogram
from echomq_widgets.table import WindowedTable
from echomq_widgets.table_messages import MarksChanged, RowSelected, WindowWanted
from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Cell, Column, HeaderView, TableView, TextView

from .base import TALL, WIDE, ConsoleScreen, target_of_finding
from .keys import EVERYWHERE, GROUP, TABLE, Key, bindings
from .messages import EntryWanted
from .pending import PendingWindow
from .picture import Picture

if TYPE_CHECKING:
    from textual.worker import Worker

    from echomq_console.model.dead_letter import DeadLetterEntry

    from .desk import Desk

TABS = ("consumers", "pending", "dead", "findings")
DEAD_LETTERS_SHOWN = 500


class GroupScreen(ConsoleScreen):
    """One group. The target of every action is this group, and what stands under the cursor when the key goes down."""

    KEYS: ClassVar[tuple[Key, ...]] = (*GROUP, *TABLE, *EVERYWHERE)
    TITLE_WORDS = "Group"
    BINDINGS: ClassVar[list[BindingType]] = bindings(GROUP, EVERYWHERE)

    def __init__(
        self,
        thresholds: Thresholds,
        picture: Picture,
        desk: Desk,
        key: tuple[bytes, bytes],
        *,
        read_only: bool,
    ) -> None:
        super().__init__(thresholds, picture, read_only=read_only)
        self._desk = desk
        self._key = key
        self._tab = TABS[0]
        self._consumer: bytes | None = None
        self._window = PendingWindow()
        self._letters: tuple[DeadLetterEntry, ...] = ()
        self._now_ms = 0
        self._loader: Worker[None] | None = None
        self._trouble: str | None = None
        self._folded = HeaderView(())

    def compose_content(self) -> ComposeResult:
        """The group in one line, the tabs, and what the chosen one shows."""
        yield HeaderBar(id="summary")
        yield HeaderBar(id="tabs")
        with ContentSwitcher(initial="consumers", id="content"):
            with Vertical(id="consumers"):
                yield WindowedTable(_looking(CONSUMERS), id="consumers-table")
                yield Histogram(id="idle")
                yield Histogram(id="deliveries")
            yield WindowedTable(_looking(PENDING), id="pending", markable=True)
            yield WindowedTable(_looking(DEAD_LETTERS), id="dead")
            yield TextPanel(id="findings")
        yield HeaderBar(id="folded")

    def start(self) -> None:
        """Start with the consumers."""
        self.action_tab(self._tab)

    def on_resize(self) -> None:
        """The histograms need room, and their titles more than there may be."""
        if not self.is_laid_out:
            return
        for name in ("idle", "deliveries"):
            self.query_one(f"#{name}").display = self.size.height >= TALL - 8
        self.show_picture(self.picture)

    def groups_on_screen(self) -> Sequence[tuple[bytes, bytes]]:
        """This group."""
        return (self._key,)

    def show_picture(self, picture: Picture) -> None:
        """Draw what the picture knows, and look again at what it does not hold."""
        super().show_picture(picture)
        if not self.is_laid_out or picture.snapshot is None:
            return
        group = picture.snapshot.group(*self._key)
        findings = picture.findings_of(self._key)
        self._now_ms = picture.snapshot.taken_at_ms
        self.query_one("#summary", HeaderBar).update_view(
            group_header(self._key, group, findings, picture.snapshot.taken_at_ms)
        )
        self._draw_tabs()
        self._draw_consumers(group)
        nothing = nothing_found(group)
        lines = [line for finding in findings for line in (*finding_text(finding).lines, ())]
        self.query_one("#findings", TextPanel).update_view(TextView(tuple(lines) or (nothing,)))
        self._folded = folded(findings, nothing, self.size.width, keys=not self.read_only)
        self._draw_folded()
        if self._loader is None or self._loader.is_finished:  # one that takes longer than a poll comes to its end
            self._loader = self._load()

    def _draw_folded(self) -> None:
        if not self.is_laid_out:
            return
        trouble = self._trouble
        view = self._folded if trouble is None else HeaderView((Cell(f" ✕ {trouble}", "bad", bold=True),))
        self.query_one("#folded", HeaderBar).update_view(view)

    def _draw_tabs(self) -> None:
        snapshot = self.picture.snapshot
        stream = None if snapshot is None else snapshot.stream(self._key[0])
        group = None if snapshot is None else snapshot.group(*self._key)
        counts = {
            "consumers": None if group is None else len(group.consumers),
            "pending": None if group is None else group.pending,
            "dead": None if stream is None else stream.dead_letters,
            "findings": len(self.picture.findings_of(self._key)),
        }
        view = tabs_line(self._tab, counts, self._consumer)
        marked = len(self.query_one("#pending", WindowedTable).marked)
        if marked and self._tab == "pending":
            view = replace(view, right=(*view.right, Cell(f" {number(marked)} marked ", "accent", bold=True)))
        self.query_one("#tabs", HeaderBar).update_view(view)

    def _draw_consumers(self, group: GroupState | None) -> None:
        snapshot = self.picture.snapshot
        if snapshot is None:
            return
        table = self.query_one("#consumers-table", WindowedTable)
        if group is None:
            table.update_view(TableView(CONSUMERS, (), empty=nothing_found(None)))
            return
        table.update_view(consumers_view(snapshot, group, self.thresholds))
        for name, view in (
            ("idle", idle_histogram(group, self.thresholds)),
            ("deliveries", delivery_histogram(group, self.thresholds)),
        ):
            if view is not None:
                wide = self.size.width >= WIDE
                title = view.title.ljust(28) if wide else view.title.partition(" of the ")[0].ljust(10)
                self.query_one(f"#{name}", Histogram).update_view(replace(view, title=title))

    @work(exclusive=True, group="load")
    async def _load(self) -> None:
        """Fetch what the chosen tab shows; a failure is said and leaves what is there."""
        from echomq_console.server.errors import ServerError

        try:
            if self._tab == "pending":
                await self._load_pending()
            elif self._tab == "dead":
                self._letters = await self._desk.dead_letters(self._key[0], DEAD_LETTERS_SHOWN)
                self._draw_dead_letters()
            self._trouble = None
        except ServerError as error:
            self._trouble = harmless(str(error), 300)
        self._draw_folded()

    async def _load_pending(self) -> None:
        stream, group = self._key
        consumer = self._consumer
        await self._window.load(lambda start, count: self._desk.pending(stream, group, start, count, consumer))
        self._draw_pending()
        self._unmark_settled()
        while await self._window.load_bodies(lambda ids: self._desk.bodies(stream, ids)):
            self._draw_pending()

    def _draw_pending(self) -> None:
        if not self.is_laid_out:
            return
        window, snapshot = self._window, self.picture.snapshot
        group = None if snapshot is None else snapshot.group(*self._key)
        counted = 0 if group is None else group.pending
        if self._consumer is not None and group is not None:
            counted = next((c.pending for c in group.consumers if c.name == self._consumer), 0)
        total = window.total(counted)
        view = pending_view(window.rows, window.bodies, self._now_ms, total, window.offset, thresholds=self.thresholds)
        if self._consumer is not None:
            view = replace(view, empty=(Cell(f"{harmless(self._consumer, 40)} holds nothing", "good"),))
        self.query_one("#pending", WindowedTable).update_view(view)

    def _unmark_settled(self) -> None:
        """Take the marks off entries that are pending no more: the next action is not about them."""
        if not self.is_laid_out:
            return
        window, table = self._window, self.query_one("#pending", WindowedTable)
        ids = {row.id for row in window.rows}
        least = min(ids) if ids and window.offset else None
        most = max(ids) if ids and window.offset + len(ids) < table.view.total else None
        table.unmark(
            key
            for key in table.marked - ids
            if isinstance(key, EntryId) and (least is None or key > least) and (most is None or key < most)
        )

    def _draw_dead_letters(self) -> None:
        if not self.is_laid_out:
            return
        stream = None if self.picture.snapshot is None else self.picture.snapshot.stream(self._key[0])
        total = None if stream is None else stream.dead_letters
        shown = len(self._letters)
        self.query_one("#dead", WindowedTable).update_view(
            dead_letters_view(self._letters, self._now_ms, shown if total is None else min(total, shown))
        )

    @on(WindowWanted)
    def _window_wanted(self, event: WindowWanted) -> None:
        event.stop()
        self._window.move(event.offset, event.size)
        self._loader = self._load()

    @on(RowSelected)
    def _selected(self, event: RowSelected) -> None:
        event.stop()
        key = event.key
        if self._tab == "consumers" and isinstance(key, bytes):
            self._show_pending_of(key)
            self.action_tab("pending")
        elif self._tab == "pending" and isinstance(key, EntryId):
            self.post_message(EntryWanted(self._key[0], key))
        elif self._tab == "dead" and isinstance(key, EntryId):
            letter = next((each for each in self._letters if each.id == key), None)
            if letter is not None:
                self.post_message(EntryWanted(self._key[0], letter.provenance.entry_id, letter))

    @on(MarksChanged)
    def _marks_changed(self, event: MarksChanged) -> None:
        event.stop()
        self._draw_tabs()

    def action_tab(self, tab: str) -> None:
        """Choose a tab."""
        self._tab = tab
        self._trouble = None
        self.query_one("#content", ContentSwitcher).current = tab
        self.query_one(f"#{'consumers-table' if tab == 'consumers' else tab}").focus()
        self._loader = None  # what was looked at for another tab is given up
        self.show_picture(self.picture)

    def action_next_tab(self) -> None:
        """The next tab, around."""
        self.action_tab(TABS[(TABS.index(self._tab) + 1) % len(TABS)])

    def action_back(self) -> None:
        """Back to the whole pending list where one consumer's was shown, else to all groups."""
        if self._tab == "pending" and self._consumer is not None:
            self._show_pending_of(None)
            self.action_tab("pending")
        else:
            self.app.pop_screen()

    def _show_pending_of(self, consumer: bytes | None) -> None:
        """Begin another list: nothing that was marked in the old one may be acted on unseen."""
        self._consumer = consumer
        self._window.forget()
        table = self.query_one("#pending", WindowedTable)
        table.clear_marks()
        table.update_view(_looking(PENDING))

    def action_act_autoclaim(self) -> None:
        """Recover peers of this group."""
        self.want("autoclaim", Target(*self._key), "")

    def action_act_drain(self) -> None:
        """Recover the consumer under the cursor, or the one that was found undrained."""
        name = self._consumer if self._tab == "pending" else None
        if self._tab == "consumers":
            under = self.query_one("#consumers-table", WindowedTable).cursor_key
            name = under if isinstance(under, bytes) else None
        if name is None:
            found = target_of_finding(self.picture.findings_of(self._key), "undrained")
            name = None if found is None else found.consumer
        target = None if name is None else Target(*self._key, consumer=name)
        self.want("drain", target, "whose entries? Put the cursor on a consumer (1) and press D")

    def action_act_dead_letter(self) -> None:
        """Move the marked entries, or the one under the cursor, out of the way."""
        ids: tuple[EntryId, ...] = ()
        if self._tab == "pending":
            table = self.query_one("#pending", WindowedTable)
            chosen = table.marked or frozenset({table.cursor_key})
            ids = tuple(sorted(key for key in chosen if isinstance(key, EntryId)))
        target = Target(*self._key, ids=ids) if ids else None
        self.want("dead-letter", target, "which entries? Go to Pending (2), put the cursor on one or mark some")


def _looking(columns: tuple[Column, ...]) -> TableView:
    """A table before its first look came back."""
    return TableView(columns, (), empty=(Cell("looking…", "dim"),))
