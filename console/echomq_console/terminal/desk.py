"""The desk: what the screens ask for, and the only thing in the app that knows a server.

It is made after the first paint, because the client library takes a fifth of a second to load.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from echomq_console.actions.catalogue import plan_action
from echomq_console.actions.run import run_plan
from echomq_console.actions.session import Session
from echomq_console.audit.log import AuditLog
from echomq_console.model.action import Options, Outcome, Plan, Progress, Target
from echomq_console.model.dead_letter import DeadLetterEntry
from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import PendingEntry, Snapshot
from echomq_console.observe import look
from echomq_console.observe.observer import Observer
from echomq_console.server import commands
from echomq_console.server.address import Address
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

BODIES_A_TRIP = 25
"""Bodies fetched in one round trip: a body may be large, and others wait for the server meanwhile."""


class Desk:
    """One server, polled on one connection and looked at on another, so that a slow look never delays a poll."""

    def __init__(self, url: str, thresholds: Thresholds, *, read_only: bool) -> None:
        self.address = Address.parse(url)
        self._poll_wire = Wire(self.address, name="echomq-console", read_only=True)
        self._look_wire = Wire(self.address, name="echomq-console:look", read_only=True)
        self._observer = Observer(self._poll_wire, thresholds)
        self.session = Session(self.address, self._look_wire, AuditLog(), thresholds, read_only=read_only)

    async def poll(self, closely: Sequence[tuple[bytes, bytes]]) -> Snapshot:
        """Take a snapshot; `closely` are the groups on the screen. Raises Unreachable or Refused."""
        self._observer.look_closely(closely)
        return await self._observer.tick()

    async def pending(
        self, stream: bytes, group: bytes, start: EntryId | None, count: int, consumer: bytes | None
    ) -> tuple[PendingEntry, ...]:
        """Rows of a pending list from an id on. Raises a ServerError."""
        return await look.pending_page(self._look_wire, stream, group, start=start, count=count, consumer=consumer)

    async def bodies(self, stream: bytes, ids: Sequence[EntryId]) -> dict[EntryId, StreamEntry | None]:
        """The entries of some ids; None for one that is gone from the stream. Raises a ServerError."""
        found: dict[EntryId, StreamEntry | None] = {}
        for at in range(0, len(ids), BODIES_A_TRIP):
            part = ids[at : at + BODIES_A_TRIP]
            asked = [commands.entries_between(stream, start=i, end=i, count=1) for i in part]
            for entry_id, entries in zip(part, await self._look_wire.ask_all(asked), strict=True):
                if isinstance(entries, ServerError):
                    raise entries
                found[entry_id] = entries[0] if entries else None
        return found

    async def dead_letters(self, stream: bytes, count: int) -> tuple[DeadLetterEntry, ...]:
        """The oldest dead letters of a stream. Raises a ServerError."""
        return await look.dead_letters_page(self._look_wire, stream, count)

    async def holders(self, stream: bytes, entry_id: EntryId) -> tuple[look.Holding, ...]:
        """How each group of a stream stands to an entry. Raises a ServerError."""
        return await look.holders(self._look_wire, stream, entry_id)

    async def plan(self, action: str, target: Target, options: Options) -> Plan:
        """The dry run of an action. Raises ActionRefused or a ServerError."""
        return await plan_action(self.session, action, target, options)

    async def run(self, plan: Plan, on_progress: Callable[[Progress], None], stop: asyncio.Event) -> Outcome:
        """Carry out a confirmed plan. Raises ActionRefused or AuditError where nothing was changed."""
        return await run_plan(self.session, plan, on_progress=on_progress, stop=stop)

    async def close(self) -> None:
        """Close the connections."""
        await self._poll_wire.close()
        await self._look_wire.close()
