"""The consumer: the life of one consumer of one group, from the door to the last acknowledgement."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from echomq_console.model.entry_id import ZERO
from echomq_console.model.keys import stream_key
from echomq_console.server.address import Address
from echomq_console.server.errors import NoGroup, ServerError, StreamGone
from echomq_console.server.wire import Client, Wire

from .backoff import Backoff, is_final
from .beat import Beat
from .door import check_permissions, ensure_group, start_id
from .draining import one_pass
from .events import Disconnected, Drained, Event, GroupMade, Listener, Reconnected
from .handlers import Handler
from .loss import why_lost
from .place import Place, Row
from .reader import Reader
from .recovery import find_unseen
from .report import Report, Totals
from .session import Session, as_bytes
from .slices import Taker
from .verdict import DeadLetter, StartAt

_log = logging.getLogger(__name__)

_MOMENT = 1.0
"""Seconds the end of a consumer waits for a server that may be away."""


class Consumer:
    """A consumer of a stream's group.

    `client`: a `redis.asyncio.Redis` or an `Address`; the consumer takes two connections of its own from it. `start`:
    where the group begins if it does not exist. `min_idle`: seconds; the beat claims what has been idle longer (None:
    no beat). `beat`: seconds between beats. `count`: entries per claim and per look at one's own list. `concurrency`:
    handlers at a time. `dead_letter`: None: never. `retry_delay`: seconds, or a function of the attempts so far, that
    stretch `min_idle` for what failed here. `timeout`: seconds for one handler call. `recreate`: where to make the
    group again when it is lost in mid-run (None: that is an error). `listener`: called with every event.

    Raises ValueError for options that make no sense.
    """

    def __init__(
        self,
        client: Address | Client,
        *,
        stream: str | bytes,
        group: str | bytes,
        name: str | bytes,
        start: StartAt,
        handler: Handler,
        min_idle: float | None = 30.0,
        beat: float = 1.0,
        count: int = 100,
        concurrency: int = 1,
        dead_letter: DeadLetter | None = None,
        retry_delay: float | Callable[[int], float] = 0.0,
        timeout: float | None = None,
        recreate: StartAt | None = None,
        listener: Listener | None = None,
    ) -> None:
        start_id(start)
        if recreate is not None:
            start_id(recreate)
        if concurrency < 1 or count < 1 or beat <= 0 or (min_idle is not None and min_idle <= 0):
            raise ValueError("concurrency and count are at least 1, beat and min_idle are more than 0")
        self.stream, self.group, self.name = as_bytes(stream), as_bytes(group), as_bytes(name)
        self._client = client
        self._start = start
        self._handler = handler
        self._min_idle = min_idle
        self._every = beat
        self._count = count
        self._concurrency = concurrency
        self._dead_letter = dead_letter
        self._retry_delay = retry_delay
        self._timeout = timeout
        self._recreate = recreate
        self._listener = listener
        self._totals = Totals()
        self._backoff = Backoff()
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._grace: float | None = None
        self._running = False
        self._recover = False
        self._unseen: list[Row] = []
        self._unseen_there = asyncio.Event()

    @classmethod
    def from_queue(
        cls, client: Address | Client, *, queue: str | bytes, stream: str | bytes, **options: Any
    ) -> Consumer:
        """Make the consumer of a queue's stream, `emq:{queue}:stream:name`; the options are the constructor's."""
        return cls(client, stream=stream_key(queue, stream), **options)

    @property
    def totals(self) -> Report:
        """What it did so far, in numbers."""
        return self._totals

    async def stop(self, grace: float | None = None) -> None:
        """Settle what runs, give back what has not begun, and return when `run` is over.

        `grace`: seconds after which a handler that still runs is cancelled; its entry stays pending. Called by a
        handler it returns at once: the end waits for that handler.
        """
        self._grace = grace
        self._stopping.set()
        if self._running and asyncio.current_task() not in self._session.hands.tasks:
            await self._ended.wait()

    async def run(self) -> None:
        """Consume until `stop`. Raises what is not survivable: a ServerError, or GroupLost."""
        if self._running:
            raise RuntimeError("this consumer runs already")
        self._running = True
        self._ended.clear()
        who = b":".join((b"echomq", self.group, self.name)).decode("utf-8", "replace")
        wire, read_wire = (Wire(self._client, name=who, key=self.stream) for _ in range(2))
        self._place = Place(wire, self.stream, self.group, self.name)
        self._session = self._new_session()
        self._reader = Reader(self._place, read_wire, self._session)
        stopper = asyncio.create_task(self._when_stopped(), name="echomq-stop")
        try:
            await self._live()
        finally:
            stopper.cancel()
            await wire.close()
            await read_wire.close()
            self._running = False
            self._ended.set()

    # -- the life ------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        session = self._session
        tasks: list[asyncio.Task[None]] = []
        error: BaseException | None = None
        try:
            await self._surviving(self._enter)
            if self._stopping.is_set():
                return
            session.hands.start()
            tasks = self._tasks()
            error = await self._first_end([*tasks, *session.hands.tasks])
        except BaseException as raised:
            error = raised
            raise
        finally:
            await self._finish(tasks, cancelled=isinstance(error, asyncio.CancelledError))
        if error is not None:
            raise error

    def _tasks(self) -> list[asyncio.Task[None]]:
        jobs: list[tuple[str, Coroutine[Any, Any, None]]] = [
            ("read", self._read()),
            ("settle", self._session.settling()),
            ("lease", self._session.sweep()),
            ("recovery", self._take_unseen()),
        ]
        if self._timeout is not None:
            jobs.append(("timeouts", self._session.expire()))
        return [asyncio.create_task(job, name=f"echomq-{name}") for name, job in jobs]

    async def _first_end(self, tasks: list[asyncio.Task[None]]) -> BaseException | None:
        """Wait until the first of the tasks ends; returns what it raised."""
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if not task.cancelled() and (error := task.exception()) is not None:
                return error
        return None

    async def _enter(self) -> None:
        """Pass the door."""
        if await ensure_group(self._place, self._start):
            self._say(GroupMade(start_id(self._start)))
        await check_permissions(self._place, beat=self._min_idle is not None, dead_letter=self._dead_letter is not None)
        await self._reader.open()

    async def _read(self) -> None:
        """Drain one's own list, then read what is new, and mend what breaks, until the hands close."""
        await self._surviving(self._drain)
        beat = None
        if self._min_idle is not None and not self._stopping.is_set():
            beat = asyncio.create_task(self._beat().run(), name="echomq-beat")
        try:
            while not self._session.hands.closing:
                await self._surviving(self._read_once)
                if beat is not None and beat.done():
                    await beat
        finally:
            if beat is not None:
                await self._leave(beat)

    async def _drain(self) -> None:
        taker = self._taker()
        await one_pass(self._place, self._session, taker, count=self._count)
        self._say(Drained(taker.taken))

    async def _read_once(self) -> None:
        await self._reader.open()
        if self._recover:
            await self._find_unseen()
        if await self._reader.read() and self._backoff.attempts:
            self._say(Reconnected(self._backoff.attempts))
            self._backoff.reset()

    async def _find_unseen(self) -> None:
        self._recover = False  # before the look: what a beat loses meanwhile is looked for once more
        rows = await find_unseen(self._session)
        self._unseen += rows
        self._unseen_there.set()

    async def _take_unseen(self) -> None:
        """Handle what a recovery found, beside the reading: it may take long."""
        while True:
            await self._unseen_there.wait()
            self._unseen_there.clear()
            rows, self._unseen = self._unseen, []
            try:
                await self._taker().take(rows)
            except ServerError as error:
                if is_final(error):
                    raise
                hands = self._session.hands
                self._session.hold.drop_all([row.id for row in rows if not hands.has(row.id)])
                self._recover = True

    # -- what breaks ---------------------------------------------------------------------------------------------

    async def _surviving(self, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do a step, again and again until it succeeds or the consumer stops. Raises what cannot be survived."""
        while True:
            try:
                await step()
            except (NoGroup, StreamGone) as error:
                await self._group_lost(error)
            except ServerError as error:
                if is_final(error):
                    raise
                self._recover = True
                await self._pause(error)
            else:
                return
            if self._stopping.is_set() or self._session.hands.closing:
                return

    async def _pause(self, error: ServerError) -> None:
        seconds = self._backoff.next()
        log = _log.warning if self._backoff.attempts == 1 else _log.debug
        log("%s; trying again", error)
        self._say(Disconnected(str(error), seconds))
        await self._reader.wire.close()
        await self._place.wire.close()
        await self._sleep(seconds)

    async def _group_lost(self, error: ServerError) -> None:
        """Name the cause, and make the group again only where that was asked for."""
        lost = await why_lost(self._place, error)
        if self._recreate is None:
            raise lost
        _log.error("%s; making it again at %s", lost, start_id(self._recreate))
        await self._sleep(max(0.2, self._backoff.next()))
        if self._stopping.is_set():
            return
        with contextlib.suppress(NoGroup):
            if await ensure_group(self._place, self._recreate):
                self._say(GroupMade(start_id(self._recreate), again=True))
        self._session.hold.failed.clear()
        self._session.hold.read_to = ZERO

    async def _sleep(self, seconds: float) -> None:
        """Sleep, or until the consumer stops."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    # -- the end -------------------------------------------------------------------------------------------------

    async def _when_stopped(self) -> None:
        """End what runs and wake the parked read, as soon as `stop` is called."""
        await self._stopping.wait()
        self._session.hands.close()
        while True:
            with contextlib.suppress(ServerError):
                await self._reader.wake()
            await asyncio.sleep(0.02)

    async def _leave(self, task: asyncio.Task[None]) -> None:
        """Let a task end by itself for a moment: cancelled, it could lose what it was just given."""
        await asyncio.wait([task], timeout=_MOMENT)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _finish(self, tasks: list[asyncio.Task[None]], *, cancelled: bool) -> None:
        session = self._session
        session.hands.close()
        reads = [task for task in tasks if task.get_name() == "echomq-read"]
        if reads:
            await asyncio.wait(reads, timeout=0.0 if cancelled else 1.5 * _MOMENT)
        for task in reads:
            task.cancel()
        try:
            await session.hands.ended(0.0 if cancelled else self._grace)
            async with asyncio.timeout(2 * _MOMENT):
                # Before the other tasks end: cancelled in mid-flight, they would lose an answer.
                await session.settle.flush(deadline=_MOMENT)
                await session.give_back(deadline=_MOMENT)
        except (ServerError, TimeoutError) as error:
            _log.warning("could not settle everything at the end: %s", error)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _new_session(self) -> Session:
        return Session(
            self._place,
            self._handler,
            min_idle=self._min_idle,
            dead_letter=self._dead_letter,
            listener=self._listener,
            concurrency=self._concurrency,
            timeout=self._timeout,
            exact=False,
            retry_delay=self._retry_delay,
            report=self._totals,
        )

    def _taker(self) -> Taker:
        s = self._session
        return Taker(s.place, s.hold, s.hands, s.settle, self._dead_letter, stopping=self._stopping.is_set)

    def _beat(self) -> Beat:
        assert self._min_idle is not None
        return Beat(
            self._session,
            self._taker(),
            min_idle=self._min_idle,
            every=self._every,
            count=self._count,
            unsure=self._be_unsure,
            stopping=self._stopping,
        )

    def _be_unsure(self) -> None:
        self._recover = True

    def _say(self, event: Event) -> None:
        if self._session.emit is not None:
            self._session.emit(event)
