"""Hands: the handler loops. Long-lived, over one queue; no task, time-out object or round trip for an entry."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from echomq_console.server.errors import ServerError, one_line

from .entry import Entry, entry_of
from .events import Delivered, Event, Failed
from .handlers import Handler
from .hold import Failure, Hold
from .lease import Lease
from .place import Row
from .report import Report
from .settle import Settle
from .threads import Threads
from .turns import Slice, Slot, Turn
from .verdict import DeadLetter, Error, Ok, Verdict

_log = logging.getLogger(__name__)

_TURN = 0.001
"""Seconds a loop works before it lets the others have a turn."""

_SOON = 0.01
"""Seconds an acknowledgement may wait for the next read to carry it."""

_MOST_AHEAD = 4096
_HORIZON = 0.5


class Hands:
    """The handlers at work.

    `waiting` holds raw new entries (lists `[id, fields]`, first delivery) and `Turn`s. `retry_delay`: seconds, or a
    function of the attempts so far. `room` is set when a reader may fetch more.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        group: bytes,
        hold: Hold,
        settle: Settle,
        lease: Lease,
        report: Report,
        emit: Callable[[Event], None] | None,
        name: bytes,
        concurrency: int,
        timeout: float | None,
        dead_letter: DeadLetter | None,
        retry_delay: float | Callable[[int], float] = 0.0,
        exact: bool = False,
    ) -> None:
        self.waiting: deque[list[Any] | Turn] = deque()
        self.room = asyncio.Event()
        self.closing = False
        self.concurrency = concurrency
        self._handler = handler
        self._group = group.decode("utf-8", "replace")
        self._name = name
        self._hold = hold
        self._settle = settle
        self._lease = lease
        self._report = report
        self._emit = emit
        self._timeout = timeout
        self._dead_letter = dead_letter
        self._retry_delay = retry_delay
        self._exact = exact
        self._clock = asyncio.get_running_loop().time
        self._more = asyncio.Event()
        self._slots = [Slot() for _ in range(concurrency)]
        self._threads = None if is_async(handler) else Threads(f"handler-{self._group}")
        self._slices: set[Slice] = set()
        self._lingering: set[bytes] = set()
        self._pace = 0.0
        self._grown = 0
        self._resting = 0
        self._kicked = 0.0
        self.low = 0

    # -- starting and ending -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the loops."""
        for slot in self._slots:
            slot.task = asyncio.create_task(self._work(slot), name="echomq-handler")
            slot.task.add_done_callback(self._loop_ended)

    def close(self) -> None:
        """Begin nothing more: each loop ends after the entry it is at."""
        if not self.closing:
            self.closing = True
            for row in self.waiting:
                if isinstance(row, Turn):
                    row.slice.one_done()  # it will not begin: nobody need wait for it
        self._more.set()
        self.room.set()

    def _loop_ended(self, task: asyncio.Task[None]) -> None:
        """End them all when one ends before its time, so that nobody waits for it."""
        if not self.closing:
            self.close()
        if task.cancelled() or task.exception() is not None:
            for each in tuple(self._slices):
                each.give_up()

    async def ended(self, grace: float | None = None) -> None:
        """Wait for the loops to end after `close`; after `grace` seconds cancel what still runs.

        Raises what ended a loop other than `close`.
        """
        tasks = [slot.task for slot in self._slots if slot.task is not None]
        pending = set(tasks)
        if tasks:
            _, pending = await asyncio.wait(tasks, timeout=grace)
        for slot in self._slots:
            if slot.task in pending:
                slot.cut = "stopped before it was done"
                slot.task.cancel()
        if pending:
            await asyncio.wait(pending, timeout=1.0)  # a handler that swallows its cancellation is left behind
        if self._threads is not None:
            self._threads.close()
        for task in tasks:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """The loops' tasks, to be watched."""
        return [slot.task for slot in self._slots if slot.task is not None]

    # -- giving work ---------------------------------------------------------------------------------------------

    def give(self, rows: Iterable[list[Any]]) -> None:
        """Queue new entries, as the server sent them."""
        self.waiting.extend(rows)
        self._more.set()

    def give_slice(self, turns: list[Turn]) -> None:
        """Queue taken entries, before the new ones."""
        if self.closing:
            for turn in turns:
                turn.slice.one_done()
        elif turns:
            self._slices.add(turns[0].slice)
            turns[0].slice.done.add_done_callback(lambda _: self._slices.discard(turns[0].slice))
        self.waiting.extendleft(reversed(turns))
        self._more.set()

    def ahead(self) -> int:
        """How many entries may wait behind those that run: what can begin soon; grows from none while all goes well."""
        if self._pace <= 0.0:
            return 0
        horizon = min(_HORIZON, self._lease.period)
        return min(int(horizon * self.concurrency / self._pace), self._grown)

    def wanted(self) -> int:
        """How many entries a reader should fetch now; 0: wait for `room`."""
        ahead, waiting = self.ahead(), len(self.waiting)
        self.low = ahead // 2
        return max(0, ahead + self._resting - waiting) if waiting <= self.low else 0

    def leftover(self) -> list[Turn]:
        """Take everything out of the queue that has not begun, to give it back."""
        waiting = [row if isinstance(row, Turn) else Turn(row[0], row[1], 1, 0, 0, Slice(1)) for row in self.waiting]
        self.waiting.clear()
        return waiting

    def expire(self) -> None:
        """Cut handlers off that have run for longer than the time-out."""
        assert self._timeout is not None
        late = self._clock() - self._timeout
        for slot in self._slots:
            if slot.entry_id is not None and slot.since < late and slot.task is not None:
                slot.cut = f"timed out after {self._timeout:g} s"
                slot.task.cancel()

    # -- working -------------------------------------------------------------------------------------------------

    async def _work(self, slot: Slot) -> None:
        waiting, clock, acks = self.waiting, self._clock, self._settle.acks
        handler: Any = self._handler if self._threads is None else functools.partial(self._in_thread, slot)
        while not self.closing:
            if not waiting:
                await self._rest()
                continue
            began = now = clock()
            handled = 0
            while waiting and now - began < _TURN and not self.closing:
                if now > self._lease.fresh_until and not await self._still_ours():
                    break
                if not waiting:
                    break
                row = waiting.popleft()
                entry = self._begin(slot, row, now)
                if entry is not None:
                    try:
                        verdict = await handler(entry)
                    except (Exception, asyncio.CancelledError) as raised:  # noqa: BLE001  # the boundary around a foreign handler: whatever it raises is its Error
                        verdict = self._raised(slot, raised)
                    slot.entry_id = None
                    if slot.cut:
                        _forget_cancellation()
                    if verdict.__class__ is Ok:
                        acks.append(row[0])
                    else:
                        await self._not_ok(slot, row[0], verdict)
                    handled += 1
                if row.__class__ is Turn:
                    row.slice.one_done()
                now = clock()
            self._paced(handled, now - began, now)
            await asyncio.sleep(0)

    async def _rest(self) -> None:
        """Wait for entries; what is settled leaves meanwhile."""
        if self._settle.acks:
            self._settle.wanted.set()
        self._resting += 1
        self.room.set()
        self._more.clear()
        try:
            await self._more.wait()
        finally:
            self._resting -= 1

    async def _still_ours(self) -> bool:
        """After a stall, learn what was lost before anything else begins; False: the server does not say (yet)."""
        try:
            await self._lease.confirm()
        except ServerError:
            await asyncio.sleep(0.05)
            return False
        return True

    def _begin(self, slot: Slot, row: list[Any] | Turn, now: float) -> Entry | None:
        """Make the entry of a row; None where it is not ours any more."""
        entry_id: bytes = row[0]
        if self._hold.lost and entry_id in self._hold.lost:
            self._hold.drop(entry_id)
            return None
        attempts = 1 if row.__class__ is list else row[2]
        entry = entry_of(entry_id, row[1], attempts, self._group)
        slot.entry_id, slot.attempts, slot.since, slot.cut = entry_id, attempts, now, ""
        if self._exact:
            self._report.add("delivered", entry_id)
        if self._emit is not None:
            self._emit(Delivered(entry_id.decode(), entry.id, attempts))
        return entry

    def is_running(self, entry_id: bytes) -> bool:
        """Whether a handler has this entry right now."""
        return any(slot.entry_id == entry_id for slot in self._slots)

    def has(self, entry_id: bytes) -> bool:
        """Whether an entry runs, waits for its turn, or is done and not yet acknowledged."""
        return self.is_at_work(entry_id) or any(row[0] == entry_id for row in self.waiting)

    def is_at_work(self, entry_id: bytes) -> bool:
        """Whether an entry runs, also in a thread that was cut off, or is done and not yet acknowledged."""
        return self.is_running(entry_id) or entry_id in self._lingering or self._settle.has(entry_id)

    def _raised(self, slot: Slot, raised: BaseException) -> Error:
        """Turn what a handler raised into its Error; a cancellation that was not the handler's own goes on."""
        if isinstance(raised, asyncio.CancelledError):
            task = asyncio.current_task()
            if slot.cut:
                return Error(slot.cut)
            if task is not None and task.cancelling():
                raise raised
        text = one_line(str(raised))
        return Error(f"{type(raised).__name__}: {text}" if text else type(raised).__name__)

    async def _in_thread(self, slot: Slot, entry: Entry) -> Verdict:
        assert self._threads is not None
        slot.thread = self._threads.run(functools.partial(self._handler, entry))
        # Not awaited itself: cutting the wait short must not end the future, which says when the thread is free.
        await asyncio.wait((slot.thread,))
        result = slot.thread.result()
        slot.thread = None
        if inspect.isawaitable(result):
            result = await result
        verdict: Verdict = result
        return verdict

    async def _not_ok(self, slot: Slot, entry_id: bytes, verdict: object) -> None:
        """Settle anything but a plain Ok."""
        if isinstance(verdict, Ok):
            self._settle.acks.append(entry_id)
            return
        if not isinstance(verdict, Error):
            verdict = Error(f"the handler returned {one_line(repr(verdict), 80)}, neither Ok nor Error")
        reason = one_line(str(verdict.reason))
        if self._emit is not None:
            self._emit(Failed(entry_id.decode(), slot.attempts, reason, verdict.retry))
        thread, slot.thread = slot.thread, None
        if thread is not None and not thread.done():
            # The lease is kept until the thread really ends: it may be writing somewhere this very moment.
            self._lingering.add(entry_id)
            thread.add_done_callback(functools.partial(self._thread_ended, entry_id, slot.attempts, reason))
            self._report.add("failed", entry_id, reason)
            return
        if entry_id in self._hold.lost:
            self._hold.drop(entry_id)
        elif not verdict.retry and self._dead_letter is not None:
            await self._doom(Row(entry_id, self._name, slot.attempts), reason)
        else:
            if not verdict.retry:
                _log.error("the entry %s stays pending: there is no dead-letter policy: %s", entry_id.decode(), reason)
            self._report.add("failed", entry_id, reason)
            self._hold.fail(entry_id, Failure(self._due(slot.attempts), reason))

    async def _doom(self, row: Row, reason: str) -> None:
        try:
            await self._settle.dead_letter([row], reason, self._name)
        except ServerError as error:
            _log.warning("the entry %s is not dead-lettered yet: %s", row.id.decode(), error)
            self._report.add("failed", row.id, reason)
            self._hold.fail(row.id, Failure(self._due(row.deliveries), reason, doomed=reason))

    def _thread_ended(self, entry_id: bytes, attempts: int, reason: str, thread: asyncio.Future[Any]) -> None:
        self._lingering.discard(entry_id)
        if not thread.cancelled():
            thread.exception()  # looked at, so that nobody calls it forgotten
        self._hold.fail(entry_id, Failure(self._due(attempts), reason))

    def _due(self, attempts: int) -> float:
        delay = self._retry_delay(attempts) if callable(self._retry_delay) else self._retry_delay
        return self._clock() + delay

    def _paced(self, handled: int, seconds: float, now: float) -> None:
        """Learn how long an entry takes, and let more wait while all goes well."""
        if not handled:
            return
        pace = seconds / handled
        self._pace = pace if self._pace <= 0.0 else 0.7 * self._pace + 0.3 * pace
        self._grown = min(_MOST_AHEAD, self._grown + 2 * handled)
        if not self._exact:
            self._report.delivered += handled
        if len(self.waiting) <= self.low:
            self.room.set()
        if now - self._kicked > _SOON and self._settle.acks:
            self._kicked = now
            self._settle.wanted.set()


def _forget_cancellation() -> None:
    """Let the next handler begin uncancelled, however often and with what success this one was cut off."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def is_async(handler: Callable[..., Any]) -> bool:
    """Whether calling a handler gives a coroutine: a coroutine function, or an object whose call is one."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))  # noqa: B004  # its kind is asked, not whether it is there
