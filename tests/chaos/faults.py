"""The faults: a shuffled deck of them, dealt again and again while a run lasts."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.chaos.kinds import Plan
from tests.chaos.proxy import Proxy
from tests.chaos.seats import Seat, Seats

from echomq_console.server.embedded import EmbeddedServer

_WORDS = (b"XREADGROUP", b"XACK", b"EVALSHA", b"XAUTOCLAIM", b"XADD", b"XPENDING")


KINDS = (
    "consumer killed",
    "consumer killed for good",
    "consumer stopped",
    "consumer frozen",
    "server frozen",
    "server killed and restarted",
    "connections dropped",
    "answer lost",
    "connections stalled",
)


class Faults:
    """What goes wrong in a run. `happened` counts what really did."""

    def __init__(self, plan: Plan, server: EmbeddedServer, proxy: Proxy, seats: Seats) -> None:
        self.happened: Counter[str] = Counter()
        self._plan = plan
        self._server = server
        self._proxy = proxy
        self._seats = seats
        self._chance = random.Random(f"faults {plan.seed}")
        self._server_lock = asyncio.Lock()
        self._running: set[asyncio.Future[None]] = set()
        deck = (
            *(self._kill_one, self._kill_one_for_good, self._stop_one, self._freeze_one),
            *(self._freeze_server, self._restart_server, self._drop, self._lose, self._stall),
        )
        self._deck: dict[str, Callable[[], Awaitable[None]]] = dict(zip(KINDS, deck, strict=True))

    async def run(self) -> None:
        """Deal faults for as long as the plan says; they may overlap. The first deck is dealt to its end."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._plan.seconds
        gap = min(2.5, self._plan.seconds / (2 * len(KINDS)))
        await asyncio.sleep(gap)
        first = True
        while first or loop.time() < end:
            for name in self._chance.sample(KINDS, len(KINDS)):
                if not first and loop.time() >= end:
                    break
                task = asyncio.ensure_future(self._deck[name]())
                self._running.add(task)
                await asyncio.sleep(gap * self._chance.uniform(0.4, 1.6))
            first = False
        await self.over()

    async def over(self) -> None:
        """Wait for the faults under way to end. Raises what went wrong in one: a mistake of the run itself."""
        running, self._running = self._running, set()
        await asyncio.gather(*running)

    async def _someone(self) -> Seat:
        """Choose a consumer that lives, as soon as there is one."""
        while (seat := self._seats.pick(self._chance)) is None:  # noqa: ASYNC110  # processes come and go unasked
            await asyncio.sleep(0.02)
        return seat

    async def _kill_one(self, due: str = "kill", name: str = "consumer killed") -> None:
        seat = await self._someone()
        seat.due = due
        seat.signal(signal.SIGKILL)
        self.happened[name] += 1

    async def _kill_one_for_good(self) -> None:
        await self._kill_one("vanish", "consumer killed for good")

    async def _stop_one(self) -> None:
        seat = await self._someone()
        self.happened["consumer stopped"] += 1
        await seat.stop()

    async def _freeze_one(self) -> None:
        seat = await self._someone()
        process = seat.process
        seat.signal(signal.SIGSTOP)
        self.happened["consumer frozen"] += 1
        await asyncio.sleep(self._chance.uniform(1.2, 2.5) * self._plan.min_idle)
        if seat.process is process:
            seat.signal(signal.SIGCONT)

    async def _freeze_server(self) -> None:
        async with self._server_lock:
            pid = self._server.pid
            os.kill(pid, signal.SIGSTOP)
            self.happened["server frozen"] += 1
            try:
                await asyncio.sleep(self._chance.uniform(0.3, 5.0))
            finally:
                os.kill(pid, signal.SIGCONT)

    async def _restart_server(self) -> None:
        async with self._server_lock:
            await asyncio.to_thread(self._server.kill)
            await asyncio.sleep(self._chance.uniform(0.0, 1.0))
            await asyncio.to_thread(self._server.start)
            self.happened["server killed and restarted"] += 1

    async def _drop(self) -> None:
        share = self._chance.choice((0.2, 0.5, 1.0))
        await self._links()
        self.happened["connections dropped"] += self._proxy.drop(share, self._chance)

    async def _lose(self) -> None:
        before, tries = self._proxy.lost, self._chance.randint(1, 3)
        while tries > 0 or self._proxy.lost == before:
            self._proxy.lose(self._chance.choice(_WORDS))
            await asyncio.sleep(0.2)
            tries -= 1
        self.happened["answer lost"] += self._proxy.lost - before

    async def _stall(self) -> None:
        share, seconds = self._chance.choice((0.1, 0.3)), self._chance.uniform(0.5, 6.0)
        await self._links()
        self.happened["connections stalled"] += await self._proxy.stall(share, seconds, self._chance)

    async def _links(self) -> None:
        """Wait until there are connections: not where the server is away."""
        while not self._proxy.has_links:  # noqa: ASYNC110  # connections come and go unasked
            await asyncio.sleep(0.02)
