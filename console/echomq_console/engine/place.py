"""A place in a group: one consumer's view of one stream, and every step it takes on the server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.model.keys import dead_letter_key
from echomq_console.server import commands
from echomq_console.server.errors import NoGroup, NoKey, ServerError
from echomq_console.server.wire import Arg, Wire

from .errors import NoConsumer
from .events import plain
from .scripts import DEAD, RELEASE, RENEW, RETIRE, TAKE

T = TypeVar("T")

CHUNK = 200
"""Ids per script: about a millisecond of the server's time."""


class Row(NamedTuple):
    """A pending row as it was seen: the entry's id, its owner, its delivery count, its idle time in milliseconds."""

    id: bytes
    owner: bytes
    deliveries: int
    idle_ms: int = 0


class Fate(NamedTuple):
    """What became of a row in a script: a word of the script, and what came with it."""

    row: Row
    word: str
    rest: tuple[Any, ...] = ()


class Claim(NamedTuple):
    """What one XAUTOCLAIM gave: where to go on, the ids claimed, and the ids of ghosts the server took off (7.0+)."""

    cursor: bytes
    ids: tuple[bytes, ...]
    deleted: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The stream, the group and the consumer's name, with the connection used for everything but parked reads."""

    wire: Wire
    stream: bytes
    group: bytes
    name: bytes

    @property
    def dead_key(self) -> bytes:
        """The key of the dead letters."""
        return dead_letter_key(self.stream)

    async def must_exist(self, *, consumer: bool = False) -> None:
        """Raise NoKey, NoGroup or NoConsumer, in plain words, where a name is not known to the server."""
        try:
            groups = await self.wire.ask(commands.stream_groups(self.stream))
        except NoKey:
            raise NoKey(f"there is no stream {shown(self.stream)}") from None
        if all(group.name != self.group for group in groups):
            raise NoGroup(f"the stream {shown(self.stream)} has no group {shown(self.group)}")
        if not consumer:
            return
        known = await self.wire.ask(commands.group_consumers(self.stream, self.group))
        if all(each.name != self.name for each in known):
            raise NoConsumer(f"the group {shown(self.group)} has no consumer {shown(self.name)}")

    async def greatest_pending(self) -> EntryId | None:
        """Return the greatest pending id of the group: where a pass over the list ends; None where it is empty."""
        greatest: EntryId | None = (await self.wire.ask(commands.pending_summary(self.stream, self.group))).greatest
        return greatest

    async def look(self, after: EntryId, end: EntryId, count: int, min_idle_ms: int = 0) -> list[Row]:
        """Look at a page of one's own rows; looking counts no delivery."""
        found = await self.wire.ask(
            commands.pending_range(
                self.stream,
                self.group,
                start=after.successor() if after != ZERO else b"-",
                end=end,
                count=count,
                consumer=self.name,
                min_idle_ms=min_idle_ms or None,
            )
        )
        return [Row(bytes(row.id), row.consumer, row.delivery_count, row.idle_ms) for row in found]

    async def look_at(self, ids: Sequence[bytes]) -> list[Row]:
        """Look at certain rows, whoever owns them, in their order; what is not pending is left out."""
        replies = await self.wire.pipeline([("XPENDING", self.stream, self.group, i, i, 1) for i in ids])
        rows = []
        for reply in replies:
            if isinstance(reply, ServerError):
                raise reply
            rows += [Row(bytes(i), bytes(owner), int(count), int(idle)) for i, owner, idle, count in reply]
        return rows

    async def autoclaim(self, cursor: bytes, min_idle_ms: int, count: int) -> Claim:
        """Claim without counting a delivery: the count is added when an entry's turn comes."""
        reply = await self.wire.call(
            "XAUTOCLAIM", self.stream, self.group, self.name, min_idle_ms, cursor, "COUNT", count, "JUSTID"
        )
        return Claim(bytes(reply[0]), tuple(reply[1]), tuple(reply[2]) if len(reply) > 2 else ())

    async def take(self, rows: Sequence[Row], counts: Sequence[int], *, least_idle_ms: int = 0) -> list[Fate]:
        """Take rows that still are as seen, with their bodies; `counts` are the delivery counts they get.

        A row left for `later` was not touched.
        """
        fates: list[Fate] = []
        for chunk in chunks(list(zip(rows, counts, strict=True))):
            args: list[Arg] = [self.group, self.name, least_idle_ms]
            for row, count in chunk:
                args += (row.id, row.owner, row.deliveries, count)
            said = await TAKE.run(self.wire, [self.stream], args)
            for (row, _), (word, *rest) in zip(chunk, said, strict=True):
                fates.append(Fate(row, word.decode(), tuple(rest)))
        return fates

    async def acknowledge(self, ids: Sequence[bytes], *, deadline: float | None = None) -> int:
        """Acknowledge; returns how many were still pending."""
        return int(await self.wire.call("XACK", self.stream, self.group, *ids, deadline=deadline))

    async def renew(self, ids: Sequence[bytes]) -> list[bytes]:
        """Reset the idle time of what this consumer still owns; returns what it does not own any more."""
        lost: list[bytes] = []
        for chunk in chunks(ids):
            lost += await RENEW.run(self.wire, [self.stream], [self.group, self.name, *chunk])
        return lost

    async def release(self, rows: Sequence[tuple[bytes, int, int, int]], *, deadline: float | None = None) -> int:
        """Give rows back: (id, count now, count before, idle ms) each; returns how many were still ours."""
        done = 0
        for chunk in chunks(rows):
            args = [part for row in chunk for part in row]
            done += await RELEASE.run(self.wire, [self.stream], [self.group, self.name, *args], deadline=deadline)
        return done

    async def retire(self, ids: Sequence[bytes]) -> list[bytes]:
        """Acknowledge ghosts, checked once more on the primary; returns those that were taken off."""
        out: list[bytes] = []
        for chunk in chunks(ids):
            out += await RETIRE.run(self.wire, [self.stream], [self.group, *chunk])
        return out

    async def dead_letter(self, rows: Sequence[Row], *, reason: str, by: bytes) -> list[Fate]:
        """Move rows to the dead letters: up to the first that is refused; the rest is `later` then.

        An empty owner and a negative count mean "not seen": they are not checked.
        """
        args: list[Arg] = [self.group, reason, by, int(time.time() * 1000)]
        for row in rows:
            args += (row.id, row.owner, row.deliveries)
        said = await DEAD.run(self.wire, [self.stream, self.dead_key], args)
        fates = [Fate(row, word.decode(), tuple(rest)) for row, (word, *rest) in zip(rows, said, strict=False)]
        return fates + [Fate(row, "later") for row in rows[len(fates) :]]


def shown(name: bytes) -> str:
    """A name as an error message says it."""
    return str(plain(name))


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Cut a sequence into chunks."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
