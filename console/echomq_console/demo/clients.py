"""The living clients: plain producers and consumers, without a drain and without a beat.

They keep nothing in hand for long and acknowledge everything they read, so an incident around them neither heals by
itself nor grows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from random import Random
from types import TracebackType

from echomq_console.server.address import Address
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Arg, Reply, Wire

from .retention import KEEP_MS, Retention
from .scenario import Producer, Reader, Scenario
from .writer import Clock, Writer, wall_clock

_PARK_MS = 800
_READ_DEADLINE = 30.0
_PAUSE = 0.3
_CATCH_UP = 1.0
_RETENTION_EVERY = 50


class Living:
    """The clients of a scenario, alive inside `async with`.

    `pace` makes them that many times as fast. `produced` and `handled` count entries.
    """

    def __init__(
        self,
        address: Address,
        scenario: Scenario,
        *,
        pace: float = 1.0,
        keep_ms: int = KEEP_MS,
        number: int = 2,
        clock: Clock = wall_clock,
    ) -> None:
        self.produced = 0
        self.handled = 0
        self._address = address
        self._scenario = scenario
        self._pace = pace
        self._keep_ms = keep_ms
        self._random = Random(number)
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Living:
        lives: list[Coroutine[None, None, None]] = [self._produce(producer) for producer in self._scenario.producers]
        lives += [self._read(reader) for reader in self._scenario.readers]
        self._tasks = [asyncio.create_task(life) for life in lives]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def until(self, stop: asyncio.Event) -> None:
        """Live until `stop` is set. Raises what ended a client before that."""
        stopping = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([stopping, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        for task in done:
            task.result()

    async def _produce(self, producer: Producer) -> None:
        """Append at the producer's rate; what is missed for longer than a moment is not made up for."""
        wire = Wire(self._address, name="shop")
        writer = Writer(producer.stream, node=2)
        retention = Retention(producer.stream, keep_ms=self._keep_ms)
        loop = asyncio.get_running_loop()
        due = loop.time()
        appended = 0
        try:
            while True:
                due = max(due, loop.time() - _CATCH_UP)
                due += self._random.uniform(0.5, 1.5) / (producer.per_second * self._pace)
                await asyncio.sleep(due - loop.time())
                try:
                    if appended % _RETENTION_EVERY == 0:
                        await retention.step(wire, self._clock())
                    await wire.call(*writer.append(producer.payload(self._random), self._clock()))
                except ServerError:
                    await asyncio.sleep(_PAUSE)
                else:
                    appended += 1
                    self.produced += 1
        finally:
            await wire.close()

    async def _read(self, reader: Reader) -> None:
        """Read new entries, handle one after another, acknowledge each."""
        wire = Wire(self._address, name=reader.client_name)
        read = ("XREADGROUP", "GROUP", reader.group, reader.name, "COUNT", reader.count)
        try:
            while True:
                reply = await _patiently(wire, *read, "BLOCK", _PARK_MS, "STREAMS", reader.stream, ">")
                for entry_id, _ in reply[0][1] if reply else ():
                    await asyncio.sleep(reader.handling / self._pace)
                    await _patiently(wire, "XACK", reader.stream, reader.group, entry_id)
                    self.handled += 1
        finally:
            await wire.close()


async def _patiently(wire: Wire, *command: Arg) -> Reply:
    """Send a command until it is answered with something else than an error."""
    while True:
        try:
            return await wire.call(*command, deadline=_READ_DEADLINE)
        except ServerError:
            await asyncio.sleep(_PAUSE)
