"""Producers: they add entries in bursts, through the same bad network, and remember what the server confirmed."""

from __future__ import annotations

import asyncio
import random

from tests.chaos.kinds import Plan, fields, kinds

from echomq_console.server.address import Address
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Arg, Wire

_PRODUCERS = 3
_BURST = 400


class Producing:
    """What was tried (`added`: number -> kind) and what the server confirmed.

    A batch without an answer is not sent again: nobody can say whether it was added, which is what makes it
    interesting. New entries take its place.
    """

    def __init__(self, plan: Plan, url: str, stream: str) -> None:
        self.added: dict[int, str] = {}
        self.confirmed: set[int] = set()
        self._plan = plan
        self._url = url
        self._stream = stream
        self._kinds = kinds(plan)

    async def run(self) -> None:
        """Add entries until as many are confirmed as the plan says, spread over the time of the faults."""
        async with asyncio.TaskGroup() as group:
            for k in range(_PRODUCERS):
                group.create_task(self._produce(k), name=f"producer-{k}")

    async def _produce(self, k: int) -> None:
        plan, chance = self._plan, random.Random(f"producer {k} {self._plan.seed}")
        wire = Wire(Address.parse(self._url), name=f"producer-{k}", deadline=2.0)
        share = len(range(k, plan.entries, _PRODUCERS))
        loop = asyncio.get_running_loop()
        began = loop.time()
        n, done = k, 0
        try:
            while done < share:
                size = min(share - done, chance.randint(1, max(1, min(_BURST, plan.entries // 50))))
                batch = range(n, n + size * _PRODUCERS, _PRODUCERS)
                n = batch.stop
                done += await self._add(wire, batch, chance)
                await asyncio.sleep(max(0.0, began + plan.seconds * done / share - loop.time()))
        finally:
            await wire.close()

    async def _add(self, wire: Wire, batch: range, chance: random.Random) -> int:
        """Add a batch; returns how many the server confirmed."""
        commands: list[tuple[Arg, ...]] = []
        for n in batch:
            kind = self._kinds.get(n, "plain")
            self.added[n] = kind
            commands.append(("XADD", self._stream, "*", *fields(self._plan, n, kind, chance)))
        await self._connect(wire)
        try:
            answers = await wire.pipeline(commands)
        except ServerError:
            return 0
        confirmed = [n for n, said in zip(batch, answers, strict=True) if isinstance(said, bytes)]
        self.confirmed.update(confirmed)
        return len(confirmed)

    async def _connect(self, wire: Wire) -> None:
        while True:
            try:
                await wire.open()
            except ServerError:
                await asyncio.sleep(0.1)
            else:
                return
