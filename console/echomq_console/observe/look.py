"""Bounded looks for screens and commands: a page of rows, entries or dead letters, and who holds an entry.

Each says in one clear line what is not there. Nothing here counts a delivery or resets an idle time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from echomq_console.model.dead_letter import DeadLetterEntry, dead_letter_of
from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.snapshot import ConsumerState, GroupState, PendingEntry
from echomq_console.model.text import harmless
from echomq_console.server import commands
from echomq_console.server.commands import Command
from echomq_console.server.errors import CommandError, Denied, NoGroup, NoKey, ServerError, WrongType
from echomq_console.server.wire import Wire

_NAMED = 8
_PAGES = 20
_GROUPS_A_TRIP = 100


class NoConsumer(CommandError):
    """The group has no consumer of that name."""


class Standing(Enum):
    """Where an entry stands with a group.

    ACKNOWLEDGED: the group is past it and nobody holds it. That is also so where the group never received it, because
    it was made, or set, behind the entry: the server keeps no record that tells the two apart.
    """

    PENDING = "pending"
    ACKNOWLEDGED = "acknowledged"
    NOT_DELIVERED = "not yet delivered"


@dataclass(frozen=True, slots=True)
class Holding:
    """How one group of a stream stands to an entry; `row` says who holds it where it is pending."""

    group: bytes
    standing: Standing
    row: PendingEntry | None = None


async def pending_page(
    wire: Wire,
    stream: bytes,
    group: bytes,
    *,
    start: EntryId | None = None,
    count: int = 200,
    consumer: bytes | None = None,
) -> tuple[PendingEntry, ...]:
    """Rows of a pending list, ascending by id, from `start` on; of one consumer, if given.

    Raises NoKey, WrongType, NoGroup, or what else the server refused.
    """
    asked = commands.pending_range(stream, group, start=start or b"-", count=count, consumer=consumer)
    kind, groups, rows = await wire.ask_all([commands.key_type(stream), commands.stream_groups(stream), asked])
    _require_stream(wire, stream, kind)
    _require_group(stream, group, groups)
    page: tuple[PendingEntry, ...] = _answered(rows)
    return page


async def entries_page(
    wire: Wire,
    stream: bytes,
    *,
    start: EntryId | None = None,
    end: EntryId | None = None,
    count: int = 200,
    newest_first: bool = False,
) -> tuple[StreamEntry, ...]:
    """Entries of a stream between two ids, both included; with `newest_first` from the end backwards.

    Raises NoKey or WrongType.
    """
    between = commands.entries_back if newest_first else commands.entries_between
    low, high = start or b"-", end or b"+"
    first, last = (high, low) if newest_first else (low, high)
    kind, entries = await wire.ask_all([commands.key_type(stream), between(stream, start=first, end=last, count=count)])
    _require_stream(wire, stream, kind)
    page: tuple[StreamEntry, ...] = _answered(entries)
    return page


async def dead_letters_page(
    wire: Wire, stream: bytes, count: int = 200, *, start: EntryId | None = None
) -> tuple[DeadLetterEntry, ...]:
    """The dead letters of a stream, oldest first, from `start` (an id in the dead-letter stream) on.

    None were made yet: empty. Entries there that are no dead letters are passed over, for up to 20 pages. Raises NoKey
    where neither the stream nor its dead letters exist, WrongType where the dead-letter key holds something else.
    """
    key = dead_letter_key(stream)
    kind, dead_kind = await wire.ask_all([commands.key_type(stream), commands.key_type(key)])
    if dead_kind == "none":
        _require_stream(wire, stream, kind)
        return ()
    _require_stream(wire, key, dead_kind)
    found: list[DeadLetterEntry] = []
    for _ in range(_PAGES):
        entries = await wire.ask(commands.entries_between(key, start=start or b"-", count=count))
        found += [letter for letter in map(dead_letter_of, entries) if letter is not None]
        if len(entries) < count or len(found) >= count:
            break
        start = entries[-1].id.successor()
    return tuple(found[:count])


async def holders(wire: Wire, stream: bytes, entry_id: EntryId) -> tuple[Holding, ...]:
    """How each group of the stream stands to an entry. Raises NoKey or WrongType."""
    kind, groups = await wire.ask_all([commands.key_type(stream), commands.stream_groups(stream)])
    _require_stream(wire, stream, kind)
    known: tuple[GroupState, ...] = _answered(groups)
    found: list[Holding] = []
    for first in range(0, len(known), _GROUPS_A_TRIP):
        some = known[first : first + _GROUPS_A_TRIP]
        asked: list[Command[Any]] = [
            commands.pending_range(stream, group.name, start=entry_id, end=entry_id, count=1) for group in some
        ]
        replies = await wire.ask_all(asked)
        found += [
            _holding(group, _answered(rows), entry_id)
            for group, rows in zip(some, replies, strict=True)
            if not isinstance(rows, NoGroup)  # destroyed between the two round trips
        ]
    return tuple(found)


async def require_group(wire: Wire, stream: bytes, group: bytes) -> None:
    """Raise NoKey, WrongType or NoGroup, with one clear line, unless the group exists."""
    kind, groups = await wire.ask_all([commands.key_type(stream), commands.stream_groups(stream)])
    _require_stream(wire, stream, kind)
    _require_group(stream, group, groups)


async def require_consumer(wire: Wire, stream: bytes, group: bytes, consumer: bytes) -> ConsumerState:
    """Find a consumer. Raises NoKey, WrongType, NoGroup or NoConsumer, so that a typo never creates one."""
    kind, groups, consumers = await wire.ask_all(
        [commands.key_type(stream), commands.stream_groups(stream), commands.group_consumers(stream, group)]
    )
    _require_stream(wire, stream, kind)
    _require_group(stream, group, groups)
    known: tuple[ConsumerState, ...] = _answered(consumers)
    for state in known:
        if state.name == consumer:
            return state
    raise NoConsumer(
        f"group '{harmless(group)}' of '{harmless(stream)}' has no consumer '{harmless(consumer)}'"
        f" ({_has([state.name for state in known])})"
    )


def _holding(group: GroupState, rows: tuple[PendingEntry, ...], entry_id: EntryId) -> Holding:
    if rows:
        return Holding(group.name, Standing.PENDING, rows[0])
    is_passed = entry_id <= group.last_delivered_id
    return Holding(group.name, Standing.ACKNOWLEDGED if is_passed else Standing.NOT_DELIVERED)


def _answered(reply: Any) -> Any:
    if isinstance(reply, ServerError):
        raise reply
    return reply


def _require_stream(wire: Wire, key: bytes, kind: str | ServerError) -> None:
    if isinstance(kind, Denied):
        return  # the command itself will say what it finds
    found = _answered(kind)
    if found == "none":
        queue, slash, name = key.partition(b"/")
        hint = f" (an EchoMQ stream's key is spelled emq:{{{harmless(queue, 60)}}}:stream:{harmless(name, 60)})"
        raise NoKey(f"no stream '{harmless(key)}' on {wire.address}{hint if slash and queue and name else ''}")
    if found != "stream":
        raise WrongType(f"'{harmless(key)}' holds a {found}, not a stream")


def _require_group(stream: bytes, group: bytes, groups: tuple[GroupState, ...] | ServerError) -> None:
    if isinstance(groups, Denied):
        return
    known: tuple[GroupState, ...] = _answered(groups)
    if group not in {state.name for state in known}:
        names = [state.name for state in known]
        raise NoGroup(f"stream '{harmless(stream)}' has no group '{harmless(group)}' ({_has(names)})")


def _has(names: Sequence[bytes]) -> str:
    if not names:
        return "it has none"
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "it has: " + ", ".join(harmless(name, 60) for name in names[:_NAMED]) + more
