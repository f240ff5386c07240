"""The app: polls, hands the picture to the screens, opens screens, starts actions."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.worker import Worker, WorkerState

from echomq_console.model.finding import Thresholds
from echomq_console.model.text import harmless
from echomq_console.present.header import Link
from echomq_widgets.plan_dialog import PlanDialog
from echomq_widgets.progress_dialog import ProgressDialog

from .base import READ_ONLY, ConsoleScreen
from .groups import GroupsScreen
from .messages import ActionWanted, EntryWanted, RefreshWanted
from .picture import Picture
from .theme import THEME

if TYPE_CHECKING:
    from textual.driver import Driver

    from echomq_console.model.entry_id import EntryId
    from echomq_widgets.views import TextView

    from .acting import Act
    from .desk import Desk
    from .entry import Look

PERIOD = 1.0
"""Seconds between polls."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the app was started."""

    url: str
    shown: str
    thresholds: Thresholds
    handler: str | None = None
    read_only: bool = False
    title: str | None = None


class ConsoleApp(App[int]):
    """The terminal app. It paints first and connects after."""

    CSS_PATH = "console.tcss"
    TITLE = "echomq-console"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, start: Start, *, period: float = PERIOD) -> None:
        super().__init__()
        self._start = start
        self._period = period
        self._picture = Picture()
        self._desk: Desk | None = None
        self._handlers: dict[tuple[bytes, bytes], str] = {}
        self._act: Act | None = None
        self._look_now = asyncio.Event()
        self._poll_seconds: float | None = None

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice; its driver for terminals, in a form that survives them."""
        chosen = super().get_driver_class()
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from .driver import SurvivingDriver

        return SurvivingDriver

    def on_mount(self) -> None:
        """Show the empty opening screen at once; the connection comes after it."""
        self.register_theme(THEME)
        self.theme = THEME.name
        self.push_screen(GroupsScreen(self._start.thresholds, self._picture, read_only=self._start.read_only))
        self._show_link()
        self._mind_signals()
        self.set_interval(1.0, self._show_age)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._watch()

    @work(exclusive=True, group="watch")
    async def _watch(self) -> None:
        """Poll, one at a time, until the app ends. A poll that fails leaves the picture, which then grows old."""
        from echomq_console.server.errors import ServerError

        from .desk import Desk

        self._desk = Desk(self._start.url, self._start.thresholds, read_only=self._start.read_only)
        while True:
            began = time.monotonic()
            try:
                snapshot = await self._desk.poll(self._groups_on_screen())
            except ServerError as error:
                self._picture = self._picture.with_error(str(error))
            else:
                now = time.monotonic()
                self._poll_seconds = now - began
                self._picture = self._picture.with_snapshot(snapshot, now, self._start.thresholds)
            self._show_picture()
            await self._pause()

    async def _pause(self) -> None:
        self._look_now.clear()
        try:
            async with asyncio.timeout(self._period):
                await self._look_now.wait()
        except TimeoutError:
            return

    def _console_screens(self) -> list[ConsoleScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, ConsoleScreen)]

    def _groups_on_screen(self) -> list[tuple[bytes, bytes]]:
        screens = self._console_screens()
        return list(screens[-1].groups_on_screen()) if screens and screens[-1].is_laid_out else []

    def _show_picture(self) -> None:
        for screen in self._console_screens():
            screen.show_picture(self._picture)
        self._show_link()

    def _show_age(self) -> None:
        """Between polls only an old picture's age is drawn: a fresh one needs no repaint."""
        if (self._picture.age_ms(time.monotonic()) or 0) > 2 * self._period * 1000:
            self._show_link()

    def _show_link(self) -> None:
        picture = self._picture
        link = Link(
            self._start.shown,
            None if picture.snapshot is None else picture.snapshot.server,
            picture.age_ms(time.monotonic()),
            self._poll_seconds,
            picture.error,
            () if picture.snapshot is None else picture.snapshot.problems,
        )
        for screen in self._console_screens():
            screen.show_link(link, self._start.title)

    @on(RefreshWanted)
    def _refresh_wanted(self) -> None:
        self._look_now.set()

    @on(GroupsScreen.Opened)
    def _group_opened(self, event: GroupsScreen.Opened) -> None:
        if self._desk is None:
            return
        from .group import GroupScreen

        self.push_screen(
            GroupScreen(
                self._start.thresholds,
                self._picture,
                self._desk,
                (event.stream, event.group),
                read_only=self._start.read_only,
            )
        )
        self._show_link()

    @on(EntryWanted)
    def _entry_wanted(self, event: EntryWanted) -> None:
        self._open_entry(event)

    @work(exclusive=True, group="entry")
    async def _open_entry(self, event: EntryWanted) -> None:
        """Look an entry up and show it; what cannot be looked up is said in one line."""
        from echomq_console.present.entry import pairs_text, provenance_text
        from echomq_console.present.names import stream_label
        from echomq_console.server.errors import ServerError

        from .entry import EntryScreen

        look: Look | None = None
        if event.letter is not None:
            now_ms = self._picture.server_now_ms(time.monotonic())
            pairs = pairs_text(event.letter.original)
            where = provenance_text(event.letter.id, event.letter.provenance, now_ms)
        else:
            look = partial(self._look_at, event.stream, event.entry_id)
            try:
                pairs, where = await look()
            except ServerError as error:
                self.notify(harmless(str(error), 300), severity="error", markup=False)
                return
        title = f"{stream_label(event.stream)} › {event.entry_id}"
        start = self._start
        self.push_screen(
            EntryScreen(start.thresholds, self._picture, title, pairs, where, look=look, read_only=start.read_only)
        )
        self._show_link()

    async def _look_at(self, stream: bytes, entry_id: EntryId) -> tuple[TextView, TextView]:
        """What is in an entry, and where it is now. Raises a ServerError."""
        from echomq_console.present.entry import pairs_text, whereabouts_text

        assert self._desk is not None
        entry = (await self._desk.bodies(stream, [entry_id]))[entry_id]
        held = await self._desk.holders(stream, entry_id)
        pairs = None if entry is None else entry.pairs
        now_ms = self._picture.server_now_ms(time.monotonic())
        return pairs_text(pairs or ()), whereabouts_text(entry_id, pairs, held, now_ms)

    @on(ActionWanted)
    def _action_wanted(self, event: ActionWanted) -> None:
        if self._start.read_only:
            self.notify(READ_ONLY, severity="warning", markup=False)
        elif self._desk is None:
            self.notify("not connected yet", markup=False)
        elif self._act is not None:
            self.notify("an action is under way: let it end, or stop it, first", severity="warning", markup=False)
        else:
            self._take(event)

    @work(group="act")
    async def _take(self, event: ActionWanted) -> None:
        from .acting import Act

        assert self._desk is not None
        group = (event.target.stream, event.target.group)  # one group's handler must not do another one's work
        self._act = Act(self, self._desk, self._handlers.get(group, self._start.handler))
        try:
            handler = await self._act.take(event.action, event.target)
            if handler is not None:
                self._handlers[group] = handler
        finally:
            self._act = None
            self._look_now.set()

    @on(ProgressDialog.StopWanted)
    def _stop_wanted(self) -> None:
        if self._act is not None:
            self._act.stop.set()

    @on(ProgressDialog.BackgroundWanted)
    def _background_wanted(self) -> None:
        self.notify("it goes on, and its outcome will be said here; q stops it and leaves", markup=False)

    async def action_quit(self) -> None:
        """Leave; an action under way is stopped cleanly first."""
        self._leave()

    @work(group="leave")
    async def _leave(self) -> None:
        if self._act is not None:
            self._act.stop.set()
            if isinstance(self.screen, PlanDialog):
                self.screen.action_cancel()
            else:
                self.notify("stopping: what runs is settled, the rest is left as it is", markup=False)
            await self.workers.wait_for_complete([worker for worker in self.workers if worker.group == "act"])
        self.exit(0)

    def _mind_signals(self) -> None:
        """A terminal that goes away, or a polite kill, ends the app as the key does."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for sign in (signal.SIGHUP, signal.SIGTERM):
            loop.add_signal_handler(sign, self._leave)

    @property
    def crash(self) -> Exception | None:
        """What ended the app, where it was no key and no signal."""
        return self._exception

    def _fatal_error(self) -> None:
        """Leave without a traceback on the operator's screen: whoever started the app keeps the details."""
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        """Close the connections."""
        if self._desk is not None:
            await self._desk.close()

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._act = None
