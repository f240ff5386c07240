"""A run: a server, producers, consumers, faults; then quiet, until everything has settled; then the verdict."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.chaos.checker import FORBIDDEN, MEANING, History, Verdict, check
from tests.chaos.faults import Faults
from tests.chaos.history import Final, events, is_settled, look
from tests.chaos.kinds import Plan
from tests.chaos.producing import Producing
from tests.chaos.proxy import Proxy
from tests.chaos.seats import Queue, Seats

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

STREAM = "emq:{chaos}:stream:events"
GROUP = "soak"

PERSISTENT = ("--appendonly", "yes", "--appendfsync", "always")
"""What the server has confirmed is on its disk: killing it loses nothing that counts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the verdict, what happened on the way, and the consumers that ended as none should."""

    plan: Plan
    verdict: Verdict
    added: Counter[str]
    confirmed: int
    faults: Counter[str]
    ended: Counter[str]
    unclean: tuple[str, ...]
    seconds: float
    settled_after: float

    @property
    def is_good(self) -> bool:
        """Whether nothing forbidden was found."""
        return not self.verdict.violations and not self.unclean

    def as_dict(self) -> dict[str, Any]:
        """Say it as plain data."""
        return {
            "good": self.is_good,
            "seed": self.plan.seed,
            "entries": self.plan.entries,
            "confirmed": self.confirmed,
            "added": dict(self.added),
            "begun": self.verdict.begun,
            "handled": self.verdict.handled,
            **self.verdict.counts,
            "violations": self.verdict.violations,
            "unclean": list(self.unclean),
            "faults": dict(sorted(self.faults.items())),
            "ended": dict(self.ended),
            "seconds": round(self.seconds, 1),
            "settled_after": round(self.settled_after, 1),
        }


@contextlib.asynccontextmanager
async def _folders(binary: Path | None, keep: Path | None) -> AsyncIterator[tuple[EmbeddedServer, Path]]:
    """A server that keeps its data over a restart, and a folder for the histories; both gone at the end."""
    root = Path(tempfile.mkdtemp(prefix="echomq-chaos-"))
    (root / "server").mkdir()
    (root / "history").mkdir()
    server = EmbeddedServer(binary, options=PERSISTENT, keep=root / "server")
    try:
        await asyncio.to_thread(server.start)
        yield server, root / "history"
    finally:
        await asyncio.to_thread(server.kill)
        if keep is not None:
            shutil.copytree(root, keep, dirs_exist_ok=True)
        shutil.rmtree(root)


async def soak(plan: Plan, *, binary: Path | None = None, keep: Path | None = None) -> Outcome:
    """Run a plan to its end and judge it. `keep`: a folder to copy the histories and the server's files to."""
    began = time.monotonic()
    async with _folders(binary, keep) as (server, folder), Proxy(lambda: server.port) as proxy:
        producing = Producing(plan, proxy.url, STREAM)
        seats = Seats(plan, Queue(proxy.url, STREAM, GROUP, folder))
        faults = Faults(plan, server, proxy, seats)
        try:
            seats.start()
            async with asyncio.TaskGroup() as both:
                both.create_task(producing.run())
                both.create_task(faults.run())
            quiet = time.monotonic()
            await _settle(plan, server, seats)
            settled_after = time.monotonic() - quiet
            await seats.stop()
        finally:
            await seats.close()
        final = await _look(server)
        if keep is not None:
            (folder / "numbers.json").write_text(json.dumps(final.numbers))
        verdict = check(_history(plan, producing, final, folder))
    return Outcome(
        plan,
        verdict,
        Counter(producing.added.values()),
        len(producing.confirmed),
        faults.happened,
        seats.ended,
        tuple(seats.unclean),
        time.monotonic() - began,
        settled_after,
    )


async def _settle(plan: Plan, server: EmbeddedServer, seats: Seats) -> None:
    """Wait until nothing is pending; the checker says so where it never comes to that."""
    wire = Wire(Address.parse(server.url))
    try:
        async with asyncio.timeout(plan.patience):
            while True:
                seats.check()
                with contextlib.suppress(ServerError):
                    if await is_settled(wire, STREAM, GROUP):
                        return
                await asyncio.sleep(0.1)
    except TimeoutError:
        return
    finally:
        await wire.close()


async def _look(server: EmbeddedServer) -> Final:
    wire = Wire(Address.parse(server.url), deadline=60.0)
    try:
        return await look(wire, STREAM, GROUP)
    finally:
        await wire.close()


def _history(plan: Plan, producing: Producing, final: Final, folder: Path) -> History:
    return History(
        added=producing.added,
        confirmed=producing.confirmed,
        present=set(final.numbers.values()),
        events=events(folder, final.numbers),
        pending=final.pending,
        dead=final.dead,
        limit=plan.limit,
    )


def show(outcome: Outcome, console: Console) -> None:
    """Print an outcome as a table, and as one line of JSON."""
    table = Table(title=f"seed {outcome.plan.seed}: {outcome.plan.entries} entries in {outcome.seconds:.0f} s")
    table.add_column("found")
    table.add_column("entries", justify="right")
    table.add_column("meaning")
    for name, count in outcome.verdict.counts.items():
        bad = name in FORBIDDEN and count
        table.add_row(name, str(count), MEANING[name], style="bold red" if bad else None)
    table.add_section()
    for name, count in sorted((outcome.faults + outcome.ended).items()):
        table.add_row(name, str(count), "")
    console.print(table)
    for complaint in outcome.unclean:
        console.print(f"unclean: {complaint}", markup=False)
    print(json.dumps(outcome.as_dict()), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 where anything forbidden was found."""
    parser = argparse.ArgumentParser(
        prog="soak.py", description="The engine under chaos, and what became of every entry."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--entries", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long entries are added and faults go on")
    parser.add_argument("--server", type=Path, help="a server's program; the bundled Valkey if not given")
    parser.add_argument("--keep", type=Path, help="copy the histories and the server's files to this folder")
    said = parser.parse_args(arguments)
    plan = Plan(said.seed, said.entries, said.seconds)
    outcome = asyncio.run(_until_told(plan, said.server, said.keep))
    show(outcome, Console(width=110))
    return 0 if outcome.is_good else 1


async def _until_told(plan: Plan, binary: Path | None, keep: Path | None) -> Outcome:
    """Clean up on SIGTERM as on ctrl-c."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await soak(plan, binary=binary, keep=keep)
