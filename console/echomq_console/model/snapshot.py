"""A snapshot: what the server said of its streams, groups and consumers at one moment.

Unknown is None, never zero. Every time is the server's: `taken_at_ms` is its clock, idle times are its own counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .entry_id import EntryId


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Who answered: `product` is "valkey" or "redis", `version` like (9, 1, 2), `role` as the server names it."""

    address: str
    product: str | None = None
    version: tuple[int, ...] | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """A row of a pending list: who owns the entry, for how long (milliseconds), and how often it was delivered."""

    id: EntryId
    consumer: bytes
    idle_ms: int
    delivery_count: int


@dataclass(frozen=True, slots=True)
class HeldRows:
    """What a scan saw of the rows one consumer holds; times are Unix milliseconds of the server's clock.

    `oldest_delivery_ms` and `newest_delivery_ms` are when its longest and its shortest idle row were last delivered.
    `overdue` counts rows idle for T or longer at the time of the scan; rows at or past the poison limit (`poison`) and
    rows whose entry is gone from the stream (`ghosts`) are left out of it.
    """

    rows: int
    oldest_delivery_ms: int
    newest_delivery_ms: int
    max_delivery_count: int
    overdue: int
    oldest_overdue_ms: int | None
    poison: int = 0
    ghosts: int = 0


@dataclass(frozen=True, slots=True)
class PendingScan:
    """What a bounded look at a group's pending list found: `rows` of `total` rows, seen at `at_ms`.

    `idle_buckets` counts rows by idle time under 1 s, 1 s-1 min, 1-5 min, 5 min-1 h and over 1 h;
    `delivery_buckets` by delivery count 1, 2, 3-5 and more. `poison` and `ghosts` hold up to 100 each, and
    `poison_count` and `ghost_count` say how many were seen. A large list is looked at over many polls: `began_at_ms`
    is when that began, None where it was one look.
    """

    at_ms: int
    rows: int
    total: int
    held: dict[bytes, HeldRows]
    poison: tuple[PendingEntry, ...]
    ghosts: tuple[EntryId, ...]
    ghost_count: int
    idle_buckets: tuple[int, int, int, int, int]
    delivery_buckets: tuple[int, int, int, int]
    began_at_ms: int | None = None
    poison_count: int = 0

    @property
    def complete(self) -> bool:
        """Whether every row was looked at."""
        return self.rows >= self.total


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """A consumer of a group.

    `idle_ms`: since it last tried to read where `idle_is_last_try` (7.2+), else since it last got something.
    `inactive_ms`: since it last got something, None where it never did or the server cannot say.
    `connections`: addresses of connections that call themselves this consumer's; None where that cannot be known.
    """

    name: bytes
    pending: int
    idle_ms: int
    inactive_ms: int | None = None
    idle_is_last_try: bool = True
    connections: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class GroupState:
    """A consumer group of a stream; `lag` and `entries_read` are None where the server does not know them.

    `consumers_at_ms`: when the consumers were read (Unix milliseconds), None: with the snapshot. On a server with
    hundreds of groups they take turns. `problem`: why consumers or pending list could not be read, or not yet.
    """

    stream: bytes
    name: bytes
    pending: int
    last_delivered_id: EntryId
    entries_read: int | None
    lag: int | None
    consumers: tuple[ConsumerState, ...] = ()
    smallest_pending_id: EntryId | None = None
    greatest_pending_id: EntryId | None = None
    scan: PendingScan | None = None
    problem: str | None = None
    consumers_at_ms: int | None = None

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells this group from every other: the stream and the name."""
        return self.stream, self.name

    def longest_idle_ms(self, now_ms: int) -> int | None:
        """How long the longest idle row seen by the scan has waited by now; None where nothing is known."""
        if self.pending == 0:
            return 0
        if self.scan is None:
            return None
        if not self.scan.held:  # what is pending came after the look, or was not reached by it
            return 0 if self.scan.complete else None
        return max(0, now_ms - min(held.oldest_delivery_ms for held in self.scan.held.values()))

    @property
    def max_delivery_count(self) -> int | None:
        """The highest delivery count seen by the scan; None where nothing is known."""
        if self.pending == 0:
            return 0
        if self.scan is None:
            return None
        if not self.scan.held:
            return 0 if self.scan.complete else None
        return max(held.max_delivery_count for held in self.scan.held.values())


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream: how long, the ids at its ends, how many entries were ever added (None before 7.0), its groups.

    `read_at_ms`: when this was true (Unix milliseconds), None: with the snapshot. Hundreds of streams take turns.
    """

    key: bytes
    length: int
    last_generated_id: EntryId
    first_id: EntryId | None
    entries_added: int | None
    max_deleted_id: EntryId | None
    groups: tuple[GroupState, ...] = ()
    dead_letters: int = 0
    dead_letter_key: bytes | None = None
    read_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Vanished:
    """A stream (`group` None) or a group that was there and is not any more; noticed at `at_ms`, Unix milliseconds."""

    stream: bytes
    group: bytes | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one poll saw.

    `taken_at_ms`: Unix milliseconds, the server's clock (this machine's where TIME is denied: `server_clock` is False).
    `seconds`: how long the poll took here. `problems`: what could not be read, one line each. `complete`: whether the
    search for streams has been through all keys. `vanished`: what was there before, newest first, up to 100.
    """

    server: ServerIdentity
    taken_at_ms: int
    streams: tuple[StreamState, ...]
    seconds: float = 0.0
    server_clock: bool = True
    problems: tuple[str, ...] = field(default=())
    complete: bool = True
    vanished: tuple[Vanished, ...] = ()

    def groups(self) -> Iterator[tuple[StreamState, GroupState]]:
        """Every group with its stream."""
        for stream in self.streams:
            for group in stream.groups:
                yield stream, group

    def group(self, stream: bytes, name: bytes) -> GroupState | None:
        """Find a group; None where there is no such one."""
        return next((g for s, g in self.groups() if s.key == stream and g.name == name), None)

    def stream(self, key: bytes) -> StreamState | None:
        """Find a stream; None where there is no such one."""
        return next((s for s in self.streams if s.key == key), None)
