"""The reader: new entries, one blocking read at a time, on a connection of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from echomq_console.model.entry_id import EntryId
from echomq_console.server.errors import Denied, ServerError, UnknownCommand, Unreachable
from echomq_console.server.wire import Arg, Wire

from .door import may_wake
from .place import Place
from .session import Session

PARK = 2.0
"""Seconds a read is parked at most."""

PARK_ASLEEP = 1.0
"""The same where it cannot be woken: `stop` has to wait it out."""

GRACE = 2.0
"""Seconds after the park in which the answer must have come: only this notices a frozen server."""

_MOST = 1000
_BYTES = 450_000
"""What a read may bring: about a millisecond of the server's time."""


class Reader:
    """Reads new entries into the hands' queue. `park`: seconds to wait for some; `can_wake`: known after `open`."""

    def __init__(self, place: Place, wire: Wire, session: Session) -> None:
        self.wire = wire
        self.can_wake = False
        self._place = place
        self._session = session
        self._client_id = 0
        self._entry_bytes = 1000.0

    async def open(self) -> None:
        """Connect, and learn whether a parked read can be woken. Raises a ServerError."""
        if self.wire.is_open:
            return
        await self.wire.open()
        try:
            self._client_id = int(await self.wire.call("CLIENT", "ID"))
            self.can_wake = await may_wake(self._place, self._client_id)
        except (Denied, UnknownCommand):
            self.can_wake = False

    async def wake(self) -> None:
        """End a parked read. Cancelling it instead could lose what it was just given."""
        if self.can_wake and self.wire.is_open:
            await self._place.wire.call("CLIENT", "UNBLOCK", self._client_id, deadline=0.5)

    async def read(self) -> bool:
        """Wait for room, then read once; True where the server answered. Raises a ServerError.

        What waits to be acknowledged travels ahead of it, in the same send.
        """
        hands = self._session.hands
        while not hands.closing and not (count := self._count()):
            hands.room.clear()
            await hands.room.wait()
        if hands.closing:
            return False
        acks = self._session.settle.take()
        try:
            reply = await self._exchange(acks, count)
        except BaseException:
            await self.wire.close()
            raise
        if isinstance(reply, ServerError):
            raise reply
        if reply:
            self._give(reply[0][1])
        return True

    def _count(self) -> int:
        return min(self._session.hands.wanted(), _MOST, max(1, int(_BYTES / self._entry_bytes)))

    async def _exchange(self, acks: list[bytes], count: int) -> Any:
        place, settle = self._place, self._session.settle
        park = PARK if self.can_wake else PARK_ASLEEP
        read: tuple[Arg, ...] = (
            *("XREADGROUP", "GROUP", place.group, place.name, "COUNT", count, "BLOCK", int(park * 1000)),
            *("STREAMS", place.stream, ">"),
        )
        commands: list[tuple[Arg, ...]] = [("XACK", place.stream, place.group, *acks), read] if acks else [read]
        try:
            async with asyncio.timeout(park + GRACE):
                await self.wire.send(self.wire.packed(commands))
                if acks:
                    answer = await self.wire.receive(commands[0])
                    if isinstance(answer, ServerError):
                        raise answer
                    settle.done(acks, answer)
                    acks = []
                return await self.wire.receive(read)
        except TimeoutError:
            raise Unreachable(f"{self.wire.address} did not answer within {park + GRACE:g} s: is it frozen?") from None
        finally:
            if acks:
                settle.back(acks)

    def _give(self, rows: list[Any]) -> None:
        """Queue what was read. What is in hand already is not run again: a remade group or a failover repeats it."""
        held = self._session.hold.held
        ids = [row[0] for row in rows]
        self._session.hold.read_to = EntryId.parse(ids[-1])
        if not held.isdisjoint(ids):
            rows = [row for row in rows if row[0] not in held]
            ids = [row[0] for row in rows]
        held.update(ids)
        sample = rows[:: max(1, len(rows) // 8)]
        if sample:
            size = sum(sum(map(len, row[1])) for row in sample) / len(sample) + 64
            self._entry_bytes = max(size, 0.7 * self._entry_bytes + 0.3 * size)
        self._session.hands.give(rows)
