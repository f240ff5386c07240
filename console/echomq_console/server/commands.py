"""Typed commands: what is sent, and what the raw reply means.

Fields come and go with server versions, so maps are read by name, missing and unknown ones tolerated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from echomq_console.model.entry import StreamEntry, pairs_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import ConsumerState, GroupState, PendingEntry, StreamState

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Command(Generic[T_co]):
    """A command and how to read its reply."""

    args: tuple[bytes | str | int, ...]
    parse: Callable[[Any], T_co]


class PendingSummary(NamedTuple):
    """What `XPENDING key group` says: how many rows, the smallest and greatest id, and how many by consumer."""

    rows: int
    smallest: EntryId | None
    greatest: EntryId | None
    by_consumer: dict[bytes, int]


class ScanPage(NamedTuple):
    """One step of SCAN: the next cursor (0: done) and the keys."""

    cursor: int
    keys: tuple[bytes, ...]


def scan_streams(cursor: int, *, count: int = 1000, match: bytes | None = None) -> Command[ScanPage]:
    """Find streams, one step: `SCAN cursor TYPE stream`."""
    pattern: tuple[bytes | str, ...] = ("MATCH", match) if match is not None else ()
    return Command(
        ("SCAN", cursor, *pattern, "COUNT", count, "TYPE", "stream"),
        lambda reply: ScanPage(int(reply[0]), tuple(reply[1])),
    )


def server_time() -> Command[int]:
    """The server's clock, Unix milliseconds."""
    return Command(("TIME",), lambda reply: int(reply[0]) * 1000 + int(reply[1]) // 1000)


def key_type(key: bytes) -> Command[str]:
    """What kind of value a key holds: `stream`, `none`, ..."""
    return Command(("TYPE", key), lambda reply: bytes(reply).decode("ascii", "replace"))


def info(section: str) -> Command[dict[str, str]]:
    """A section of INFO, by name."""
    return Command(("INFO", section), _parse_info)


def stream_length(key: bytes) -> Command[int]:
    """How many entries a stream holds; 0 where there is none."""
    return Command(("XLEN", key), int)


def stream_info(key: bytes) -> Command[StreamState]:
    """`XINFO STREAM key`, without its groups."""

    def parse(reply: Sequence[Any]) -> StreamState:
        said = named(reply)
        first = said.get(b"first-entry")
        return StreamState(
            key=key,
            length=int(said[b"length"]),
            last_generated_id=EntryId.parse(said[b"last-generated-id"]),
            first_id=EntryId.parse(first[0]) if first else None,
            entries_added=maybe_int(said.get(b"entries-added")),
            max_deleted_id=_maybe_id(said.get(b"max-deleted-entry-id")),
        )

    return Command(("XINFO", "STREAM", key), parse)


def stream_groups(key: bytes) -> Command[tuple[GroupState, ...]]:
    """`XINFO GROUPS key`."""

    def parse(reply: Sequence[Any]) -> tuple[GroupState, ...]:
        return tuple(
            GroupState(
                stream=key,
                name=bytes(said[b"name"]),
                pending=int(said[b"pending"]),
                last_delivered_id=EntryId.parse(said[b"last-delivered-id"]),
                entries_read=maybe_int(said.get(b"entries-read")),
                lag=maybe_int(said.get(b"lag")),
            )
            for said in map(named, reply)
        )

    return Command(("XINFO", "GROUPS", key), parse)


def group_consumers(key: bytes, group: bytes) -> Command[tuple[ConsumerState, ...]]:
    """`XINFO CONSUMERS key group`. `inactive` exists from 7.2 on; there `idle` means "last tried"."""

    def parse(reply: Sequence[Any]) -> tuple[ConsumerState, ...]:
        return tuple(_consumer(named(row)) for row in reply)

    return Command(("XINFO", "CONSUMERS", key, group), parse)


def pending_summary(key: bytes, group: bytes) -> Command[PendingSummary]:
    """`XPENDING key group`."""

    def parse(reply: Sequence[Any]) -> PendingSummary:
        count, smallest, greatest, consumers = reply
        return PendingSummary(
            int(count), _maybe_id(smallest), _maybe_id(greatest), {bytes(n): int(c) for n, c in consumers or ()}
        )

    return Command(("XPENDING", key, group), parse)


def pending_range(
    key: bytes,
    group: bytes,
    *,
    start: EntryId | bytes = b"-",
    end: EntryId | bytes = b"+",
    count: int,
    consumer: bytes | None = None,
    min_idle_ms: int | None = None,
) -> Command[tuple[PendingEntry, ...]]:
    """`XPENDING key group [IDLE ms] start end count [consumer]`, ascending by id.

    An idle filter over a whole group costs the server hundreds of milliseconds on a large list: give a consumer, or a
    range of ids, with it.
    """
    idle: tuple[bytes | str | int, ...] = ("IDLE", min_idle_ms) if min_idle_ms else ()
    owner = (consumer,) if consumer is not None else ()
    return Command(("XPENDING", key, group, *idle, bytes(start), bytes(end), count, *owner), pending_rows)


def entries_between(
    key: bytes, *, start: EntryId | bytes = b"-", end: EntryId | bytes = b"+", count: int
) -> Command[tuple[StreamEntry, ...]]:
    """`XRANGE key start end COUNT n`."""
    return Command(("XRANGE", key, bytes(start), bytes(end), "COUNT", count), stream_entries)


def entries_back(
    key: bytes, *, start: EntryId | bytes = b"+", end: EntryId | bytes = b"-", count: int
) -> Command[tuple[StreamEntry, ...]]:
    """`XREVRANGE key start end COUNT n`: newest first."""
    return Command(("XREVRANGE", key, bytes(start), bytes(end), "COUNT", count), stream_entries)


def client_list() -> Command[tuple[dict[str, str], ...]]:
    """`CLIENT LIST`, one map a connection."""

    def parse(reply: bytes) -> tuple[dict[str, str], ...]:
        lines = reply.decode("utf-8", "replace").splitlines()
        return tuple(dict(word.partition("=")[::2] for word in line.split(" ") if "=" in word) for line in lines)

    return Command(("CLIENT", "LIST"), parse)


def pending_rows(reply: Sequence[Any]) -> tuple[PendingEntry, ...]:
    """Read the rows of an extended XPENDING."""
    return tuple(PendingEntry(EntryId.parse(i), bytes(c), int(idle), int(n)) for i, c, idle, n in reply)


def stream_entries(reply: Sequence[Any]) -> tuple[StreamEntry, ...]:
    """Read the entries of an XRANGE reply."""
    return tuple(StreamEntry(EntryId.parse(i), pairs_of(flat)) for i, flat in reply)


def named(reply: Sequence[Any]) -> dict[bytes, Any]:
    """Read a flat `name, value, ...` reply by name."""
    return dict(zip(reply[::2], reply[1::2], strict=True))


def maybe_int(value: Any) -> int | None:
    """An integer, or None where the server says it does not know."""
    return None if value is None else int(value)


def _consumer(said: dict[bytes, Any]) -> ConsumerState:
    inactive = maybe_int(said.get(b"inactive"))
    return ConsumerState(
        name=bytes(said[b"name"]),
        pending=int(said[b"pending"]),
        idle_ms=int(said[b"idle"]),
        inactive_ms=None if inactive is None or inactive < 0 else inactive,
        idle_is_last_try=b"inactive" in said,
    )


def _maybe_id(value: Any) -> EntryId | None:
    return None if value is None else EntryId.parse(value)


def _parse_info(reply: bytes) -> dict[str, str]:
    lines = reply.decode("utf-8", "replace").splitlines()
    return dict(line.partition(":")[::2] for line in lines if ":" in line and not line.startswith("#"))
