"""A session: everything one consumer has in hand, put together. The drain, the claim and the consumer run on it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator

from echomq_console.server.address import Address
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Client, Wire

from .backoff import Backoff, is_final
from .events import Event, Listener, Lost, Released
from .handlers import Handler
from .hands import Hands
from .hold import Hold
from .lease import Lease
from .place import Place
from .report import Report
from .settle import Settle
from .verdict import DeadLetter

_log = logging.getLogger(__name__)

_LIFETIME = 4.0
"""Seconds after which others may claim, where the caller names no time of his own."""


class Session:
    """One consumer's hold, leases, settlements and handlers.

    `min_idle`: seconds after which others may claim what is in hand. `exact`: the report names every entry.
    """

    def __init__(
        self,
        place: Place,
        handler: Handler,
        *,
        min_idle: float | None,
        dead_letter: DeadLetter | None,
        listener: Listener | None,
        concurrency: int,
        timeout: float | None,
        exact: bool,
        retry_delay: float | Callable[[int], float] = 0.0,
        report: Report | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency is at least 1")
        clock = asyncio.get_running_loop().time
        emit = guarded(listener)
        lifetime = min_idle or _LIFETIME
        self.now = clock
        self.place = place
        self.emit = emit
        self.timeout = timeout
        self.idle_ms = -int(-lifetime * 1000 // 1)
        self.report = report if report is not None else Report()
        self.hold = Hold()
        self.settle = Settle(
            place, self.hold, self.report, emit, exact=exact, retry_after=lambda: clock() + (min_idle or 0.0)
        )
        self.lease = Lease(
            place, self.hold, lifetime=lifetime, is_done=self.settle.has, on_lost=self._on_lost, clock=clock
        )
        self.hands = Hands(
            handler,
            group=place.group,
            name=place.name,
            hold=self.hold,
            settle=self.settle,
            lease=self.lease,
            report=self.report,
            emit=emit,
            concurrency=concurrency,
            timeout=timeout,
            dead_letter=dead_letter,
            retry_delay=retry_delay,
            exact=exact,
        )

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Run the handler loops and the sweeps; at the end settle what is done and give back what did not begin."""
        sweeps = [
            asyncio.create_task(self.sweep(), name="echomq-lease"),
            asyncio.create_task(self.settling(), name="echomq-settle"),
        ]
        if self.timeout is not None:
            sweeps.append(asyncio.create_task(self.expire(), name="echomq-timeouts"))
        self.hands.start()
        try:
            yield
        except BaseException as error:
            # An operator's ctrl-c does not wait for a handler; a lost server does, and is reported as it was.
            self.hands.close()
            with contextlib.suppress(ServerError):
                await self._end(sweeps, 0.0 if isinstance(error, asyncio.CancelledError) else None)
            raise
        self.hands.close()
        await self._end(sweeps, None)

    async def _end(self, sweeps: list[asyncio.Task[None]], grace: float | None) -> None:
        try:
            await self.hands.ended(grace)
            await self.settle.flush()  # before the sweeps end: cancelled in mid-flight, an answer would be lost
        finally:
            for task in sweeps:
                task.cancel()
            await asyncio.gather(*sweeps, return_exceptions=True)
        await self.give_back()

    async def sweep(self) -> None:
        """Renew leases, again and again. A server that is away is waited for: whoever uses it next will say so.

        Raises a ServerError that will not pass.
        """
        while True:
            await asyncio.sleep(self.lease.period)
            try:
                await self.lease.sweep()
            except ServerError as error:
                if is_final(error):
                    raise
                _log.info("no renewal this time: %s", error)

    async def settling(self) -> None:
        """Acknowledge what no read carries soon, again and again. Raises a ServerError that will not pass."""
        backoff = Backoff()
        while True:
            await self.settle.wanted.wait()
            self.settle.wanted.clear()
            for _ in range(4):  # a read that is about to leave takes them along
                await asyncio.sleep(0)
            try:
                await self.settle.flush()
                backoff.reset()
            except ServerError as error:
                if is_final(error):
                    raise
                await asyncio.sleep(backoff.next())

    async def expire(self) -> None:
        """Cut off handlers that take too long, again and again."""
        assert self.timeout is not None
        while True:
            await asyncio.sleep(min(self.timeout / 4, 1.0))
            self.hands.expire()

    async def give_back(self, *, deadline: float | None = None) -> list[bytes]:
        """Give back what was taken and did not begin, with the counts it had. Raises a ServerError."""
        turns = [turn for turn in self.hands.leftover() if turn.id not in self.hold.lost]
        idle = self.idle_ms
        rows = [(turn.id, turn.attempts, turn.before, max(turn.idle_ms, idle)) for turn in turns]
        # What a beat claimed and did not take yet is ours too, uncounted.
        named = {turn.id for turn in turns}
        # What a cut-off thread still works on is not given to others either.
        rest = [i for i in self.hold.held - self.hold.lost - named if not self.hands.is_at_work(i)]
        if rest:
            rows += [(row.id, row.deliveries, row.deliveries, idle) for row in await self.place.look_at(rest)]
        if rows:
            await self.place.release(rows, deadline=deadline)
        ids = [row[0] for row in rows]
        self.hold.drop_all(ids)
        if ids and self.emit is not None:
            self.emit(Released(tuple(i.decode() for i in ids)))
        return ids

    def _on_lost(self, entry_id: bytes) -> None:
        self.report.add("lost", entry_id)
        running = self.hands.is_running(entry_id)
        _log.warning("lost the entry %s, which was %s", entry_id.decode(), "running" if running else "waiting")
        if self.emit is not None:
            self.emit(Lost(entry_id.decode(), running))


def guarded(listener: Listener | None) -> Listener | None:
    """Keep a listener's mistakes from the consumer: they are logged, and nothing else happens."""
    if listener is None:
        return None

    def emit(event: Event) -> None:
        try:
            listener(event)
        except Exception:  # noqa: BLE001  # the boundary around a foreign listener: its mistake must not cost an entry
            _log.exception("the listener failed on %s", type(event).__name__)

    return emit


def as_bytes(name: str | bytes) -> bytes:
    """Encode a name as the server has it."""
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name


@contextlib.asynccontextmanager
async def connected(
    client: Address | Client, stream: str | bytes, group: str | bytes, name: str | bytes, verb: str
) -> AsyncIterator[Place]:
    """Open a place with a connection of its own, and close it."""
    who = as_bytes(name)
    called = b":".join((b"echomq-" + verb.encode(), as_bytes(group), who)).decode("utf-8", "replace")
    wire = Wire(client, name=called, key=as_bytes(stream))
    try:
        yield Place(wire, as_bytes(stream), as_bytes(group), who)
    finally:
        await wire.close()


@contextlib.contextmanager
def until_stopped(session: Session, stop: asyncio.Event | None) -> Iterator[None]:
    """Close the hands as soon as `stop` is set."""
    if stop is None:
        yield
        return

    async def watch() -> None:
        await stop.wait()
        session.hands.close()

    task = asyncio.create_task(watch(), name="echomq-stop")
    try:
        yield
    finally:
        task.cancel()
