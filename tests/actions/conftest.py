"""What the tests of actions share: an operator at a server, pending lists as old as wished, handlers in a module."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from echomq_console.actions.catalogue import plan_action
from echomq_console.actions.session import Session
from echomq_console.audit.log import AuditLog
from echomq_console.model.action import Options, Plan, Target
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.snapshot import PendingEntry
from echomq_console.server.address import Address
from echomq_console.server.commands import pending_range
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

T_MS = 300_000
"""The longest a job may take, in these tests."""

OLD_MS = 400_000
"""Idle for longer than that."""

_modules = itertools.count()


@dataclass(frozen=True)
class Desk:
    """An operator at a server, a stream of their own with the group `g`, and the ways to look at what happened."""

    session: Session
    stream: bytes
    group: bytes = b"g"

    @property
    def wire(self) -> Wire:
        return self.session.wire

    @property
    def dead_key(self) -> bytes:
        return dead_letter_key(self.stream)

    def at(self, stream: bytes, group: bytes = b"g") -> Desk:
        """The same operator before another stream."""
        return replace(self, stream=stream, group=group)

    def is_now(self, **changed: Any) -> Desk:
        """The same desk with another session."""
        return replace(self, session=replace(self.session, **changed))

    def target(self, consumer: bytes | None = None, ids: Sequence[str] = ()) -> Target:
        return Target(self.stream, self.group, consumer, tuple(map(EntryId.parse, ids)))

    async def plan(self, action: str, consumer: bytes | None = None, ids: Sequence[str] = (), **options: Any) -> Plan:
        return await plan_action(self.session, action, self.target(consumer, ids), Options(**options))

    async def make_group(self) -> None:
        await self.wire.call("XGROUP", "CREATE", self.stream, self.group, "0", "MKSTREAM")

    async def append(self, count: int) -> list[str]:
        """Append entries with one field `n`, counted up."""
        added = await self.wire.pipeline([("XADD", self.stream, "*", "n", number) for number in range(count)])
        return [bytes(entry_id).decode() for entry_id in added]

    async def read(self, consumer: bytes, count: int) -> None:
        """Read new entries as a consumer that then does nothing with them."""
        await self.wire.call("XREADGROUP", "GROUP", self.group, consumer, "COUNT", count, "STREAMS", self.stream, ">")

    async def age(self, ids: Sequence[str], owner: bytes, *, idle_ms: int = 0, deliveries: int = 1) -> None:
        """Make pending rows look as wished; idle times are set, never waited for."""
        shape = ("IDLE", idle_ms, "RETRYCOUNT", deliveries, "FORCE", "JUSTID")
        for answer in await self.wire.pipeline(
            [("XCLAIM", self.stream, self.group, owner, 0, entry_id, *shape) for entry_id in ids]
        ):
            assert not isinstance(answer, Exception), answer

    async def held(
        self, consumer: bytes, count: int, *, idle_ms: int = OLD_MS, deliveries: int = 1, new: bool = True
    ) -> list[str]:
        """Make (the group, and) entries that a consumer has read and not settled."""
        if new:
            await self.make_group()
        ids = await self.append(count)
        await self.read(consumer, count)
        await self.age(ids, consumer, idle_ms=idle_ms, deliveries=deliveries)
        return ids

    async def pending(self) -> list[PendingEntry]:
        """The pending list."""
        return list(await self.wire.ask(pending_range(self.stream, self.group, count=100_000)))

    async def rows(self) -> dict[str, tuple[bytes, int]]:
        """The pending list: entry id -> (owner, delivery count)."""
        return {str(row.id): (row.consumer, row.delivery_count) for row in await self.pending()}

    async def dead(self) -> list[dict[bytes, bytes]]:
        """The dead letters, each as a mapping."""
        found = await self.wire.call("XRANGE", self.dead_key, "-", "+")
        return [dict(zip(fields[::2], fields[1::2], strict=True)) for _, fields in found]

    def audit_lines(self) -> list[dict[str, Any]]:
        """What the audit log says."""
        return list(self.session.audit.lines())

    async def commands_used(self) -> dict[str, int]:
        """How often the server ran each command so far, what this look itself runs left out."""
        said = bytes(await self.wire.call("INFO", "commandstats")).decode()
        counts = {name.lower(): int(calls) for name, calls in re.findall(r"cmdstat_([^:]+):calls=(\d+)", said)}
        return {name: calls for name, calls in counts.items() if name != "info"}


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    """A log of the test's own."""
    return AuditLog(tmp_path / "audit.jsonl")


async def _desk(server: EmbeddedServer, stream: bytes, audit: AuditLog) -> AsyncIterator[Desk]:
    address = Address.parse(server.url)
    wire = Wire(address)
    yield Desk(Session(address, wire, audit, Thresholds(job_ms=T_MS), actor="ana@bastion"), stream)
    await wire.close()


@pytest.fixture
async def desk(valkey: EmbeddedServer, stream: bytes, audit: AuditLog) -> AsyncIterator[Desk]:
    """An operator at the Valkey that a worker's tests share."""
    async for each in _desk(valkey, stream, audit):
        yield each


@pytest.fixture
async def any_desk(any_server: EmbeddedServer, stream: bytes, audit: AuditLog) -> AsyncIterator[Desk]:
    """An operator at each kind of server in turn."""
    async for each in _desk(any_server, stream, audit):
        yield each


@pytest.fixture
async def own_desk(own_server: EmbeddedServer, stream: bytes, audit: AuditLog) -> AsyncIterator[Desk]:
    """An operator at a server that nobody else talks to."""
    async for each in _desk(own_server, stream, audit):
        yield each


class Service:
    """The service's own code: a module with handlers, and a file in which they say what they handled."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._heard = folder / f"{name}.heard"
        self.name = name

    def write(self, source: str, name: str | None = None) -> None:
        """Write the module: `heard(entry)` is there for handlers to say what they got."""
        head = "import json\nfrom echomq_console.engine import Error, Ok\n\ndef heard(entry):\n"
        head += f"    with open({str(self._heard)!r}, 'a') as file:\n"
        head += "        file.write(json.dumps([entry.id, entry.attempts, entry.payload[b'n'].decode()]) + '\\n')\n\n"
        (self._folder / f"{name or self.name}.py").write_text(head + source)

    def handler(self, function: str = "handle") -> str:
        """Its name, as an operator gives it."""
        return f"{self.name}:{function}"

    @property
    def heard(self) -> list[tuple[str, int, int]]:
        """What the handlers got: id, attempts, `n`."""
        if not self._heard.exists():
            return []
        said = map(json.loads, self._heard.read_text().splitlines())
        return [(entry_id, attempts, int(number)) for entry_id, attempts, number in said]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The service's own code, whose handler says ok to everything unless a test writes another."""
    monkeypatch.syspath_prepend(tmp_path)
    made = Service(tmp_path, f"service_{os.getpid()}_{next(_modules)}")
    made.write("async def handle(entry):\n    heard(entry)\n    return Ok()\n")
    return made
