"""The seats: consumers in processes of their own, started again whatever ends them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.consumer_process import KILLED
from tests.chaos.kinds import Plan

_PROGRAM = Path(__file__).with_name("consumer_process.py")

STOP_WITHIN = 15.0
"""Seconds a consumer may take to stop: the handler it runs, and a server that may be away just then."""

SHAPES: tuple[dict[str, Any], ...] = (
    {"concurrency": 4, "threads": False, "client": False},
    {"concurrency": 1, "threads": False, "client": True},
    {"concurrency": 4, "threads": True, "client": False},
    {"concurrency": 8, "threads": False, "client": True},
)
"""The seats' consumers: handlers at a time, plain functions or coroutines, by an address or by a client."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What the consumers consume, and the folder of their histories."""

    url: str
    stream: str
    group: str
    folder: Path


class Seat:
    """One consumer at a time. `name`: who sits there; `due`: how it is to end (`kill`, `vanish`, `stop`), if it is."""

    def __init__(self, seats: Seats, shape: dict[str, Any], name: str) -> None:
        self.name = name
        self.due = ""
        self.process: Process | None = None
        self._seats = seats
        self._shape = shape

    @property
    def alive(self) -> bool:
        """Whether its process runs and nobody has asked it to end."""
        return self.process is not None and self.process.returncode is None and not self.due

    def signal(self, number: signal.Signals) -> None:
        """Send its process a signal; one that has ended meanwhile gets none."""
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)

    async def live(self) -> None:
        """Start a consumer, wait for its end, and start the next, until the seats close."""
        seats = self._seats
        while not seats.closing:
            number = next(seats.numbers)
            base = seats.queue.folder / f"{number:05d}-{self.name}"
            with base.with_suffix(".err").open("wb") as complaints:
                self.process = await asyncio.create_subprocess_exec(
                    *(sys.executable, str(_PROGRAM), json.dumps(self._options(base.with_suffix(".jsonl")))),
                    stdin=PIPE,
                    stdout=DEVNULL,
                    stderr=complaints,
                )
            code = await self.process.wait()
            due, self.due = self.due, ""
            seats.note_end(base, due, code)
            if due == "vanish" or (code == KILLED and seats.chance.random() < 0.5):
                self.name = seats.new_name()
                seats.ended["left to peers"] += 1
            if due or code == KILLED:
                await seats.pause(seats.chance.uniform(0.0, 0.6))

    async def stop(self) -> None:
        """Ask its process to stop, and end it where it does not."""
        self.due = "stop"
        self.signal(signal.SIGTERM)
        process = self.process
        if process is None:
            return
        try:
            async with asyncio.timeout(STOP_WITHIN):
                await process.wait()
        except TimeoutError:
            self._seats.unclean.append(f"{self.name} did not stop within {STOP_WITHIN:g} s")
            self.signal(signal.SIGKILL)
            await process.wait()

    def _options(self, history: Path) -> dict[str, Any]:
        plan, queue = self._seats.plan, self._seats.queue
        return {
            **self._shape,
            "url": queue.url,
            "stream": queue.stream,
            "group": queue.group,
            "name": self.name,
            "history": str(history),
            "min_idle": plan.min_idle,
            "beat": plan.beat,
            "limit": plan.limit,
        }


class Seats:
    """All consumers of a run. `ended` counts how processes ended; `unclean`: those that ended as none should."""

    def __init__(self, plan: Plan, queue: Queue) -> None:
        self.plan = plan
        self.queue = queue
        self.chance = random.Random(f"seats {plan.seed}")
        self.numbers = itertools.count(1)
        self.closing = False
        self.ended: Counter[str] = Counter()
        self.unclean: list[str] = []
        self._names = itertools.count(1)
        self._wake = asyncio.Event()
        self.all = [Seat(self, shape, self.new_name()) for shape in SHAPES]
        self._tasks: list[asyncio.Task[None]] = []

    def new_name(self) -> str:
        """Name a consumer that never was."""
        return f"c{next(self._names)}"

    def start(self) -> None:
        """Fill every seat."""
        self._tasks = [asyncio.create_task(seat.live(), name="seat") for seat in self.all]

    def pick(self, chance: random.Random) -> Seat | None:
        """Choose a consumer that lives, where there is one."""
        living = [seat for seat in self.all if seat.alive]
        return chance.choice(living) if living else None

    async def pause(self, seconds: float) -> None:
        """Leave a seat empty for a while, or until the seats close."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    def check(self) -> None:
        """Raise what ended a seat: a mistake of the run itself."""
        for task in self._tasks:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    def note_end(self, base: Path, due: str, code: int) -> None:
        """Judge how a process ended, by its status and by what it said on its standard error."""
        said = base.with_suffix(".err").read_text("utf-8", "replace")
        by_signal, by_entry = due in ("kill", "vanish") and code == -signal.SIGKILL, code == KILLED
        if by_entry:
            self.ended["killed by an entry"] += 1
        elif by_signal:
            self.ended["killed"] += 1
        elif due == "stop" and code in (0, -signal.SIGTERM):  # by the signal: it had not yet begun to listen to it
            self.ended["stopped"] += 1
        elif not self.closing:
            self.unclean.append(f"{base.name} ended with {code}: {said.strip()[-2000:]}")
        if any(sign in said for sign in ("Traceback", "never retrieved", "was destroyed", "Warning:")):
            self.unclean.append(f"{base.name} complained: {said.strip()[-2000:]}")

    async def stop(self) -> None:
        """Let every consumer stop."""
        self.closing = True
        self._wake.set()
        for seat in self.all:
            seat.signal(signal.SIGCONT)
        await asyncio.gather(*(seat.stop() for seat in self.all))
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """End what still runs, whatever happened."""
        self.closing = True
        self._wake.set()
        for seat in self.all:
            seat.due = seat.due or "kill"
            seat.signal(signal.SIGKILL)
        for task in self._tasks:
            if not task.done():
                await asyncio.wait([task], timeout=5)
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
