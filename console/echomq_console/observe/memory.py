"""Memory: what is kept of streams and groups between two polls, and whose turn it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from echomq_console.model.keys import parent_of_dead_letters
from echomq_console.model.snapshot import ConsumerState, GroupState, StreamState
from echomq_console.server.commands import PendingSummary

from .ghosts import GhostWatch
from .permissions import ASK_AGAIN
from .scan import PAGE, PacedScan

STREAMS_A_POLL = 100
GROUPS_A_POLL = 250
ROWS_A_POLL = 8_000
"""Budgets of one poll, about 4 ms of the server's time (measured: 13 us a stream of ten groups, 4 us a group's
consumers and summary, 0.4 us a row). Servers with more take turns, those on the screen first."""

FIRST_STREAMS = 1_000
"""Streams read at the first poll of a connection, so that the first picture shows nearly everything."""

NOT_YET = "not looked at yet: its turn comes within the next polls"


@dataclass(slots=True)
class GroupMemory:
    """One group: what was last read of it, and when; `turn` is the poll that last looked closely."""

    state: GroupState
    consumers: tuple[ConsumerState, ...] = ()
    consumers_at_ms: int | None = None
    summary: PendingSummary | None = None
    scan: PacedScan = field(default_factory=PacedScan)
    ghosts: GhostWatch = field(default_factory=GhostWatch)
    problem: str | None = NOT_YET
    is_denied: bool = False
    turn: int = -1

    @property
    def rows(self) -> int:
        """How many rows the next look asks for, about."""
        return min(self.state.pending, PAGE) + len(self.consumers)


@dataclass(slots=True)
class StreamMemory:
    """One stream; `is_dead_letters` is None until its newest entry was looked at."""

    key: bytes
    is_implied: bool = False
    state: StreamState | None = None
    groups: dict[bytes, GroupMemory] = field(default_factory=dict)
    is_dead_letters: bool | None = None
    problem: str | None = None
    is_denied: bool = False
    turn: int = -1

    def __post_init__(self) -> None:
        """Most keys cannot be dead letters by their name alone."""
        if parent_of_dead_letters(self.key) is None:
            self.is_dead_letters = False

    def forget_denials(self) -> None:
        """Ask again for what was denied: the connection is a new one."""
        self.is_denied = False
        for group in self.groups.values():
            group.is_denied = False


Key = tuple[bytes, bytes]


def streams_due(
    streams: Iterable[StreamMemory], closely: Collection[Key], tick: int, budget: int
) -> list[StreamMemory]:
    """Choose the streams of this poll: those on the screen, then those that waited longest."""
    ready = [s for s in streams if not (s.is_denied and s.turn >= 0 and tick - s.turn < ASK_AGAIN)]
    if len(ready) <= budget:
        return ready
    watched = {stream for stream, _ in closely}
    ready.sort(key=lambda s: s.turn)
    first = [s for s in ready if s.key in watched][: budget // 2]
    chosen = {id(s) for s in first}
    return (first + [s for s in ready if id(s) not in chosen])[:budget]


def groups_due(streams: Iterable[StreamMemory], closely: Collection[Key], tick: int) -> list[GroupMemory]:
    """Choose the groups of this poll, within the budgets; half of them is kept for those not on the screen."""
    ready = [
        group
        for stream in streams
        for group in stream.groups.values()
        if not (group.is_denied and tick - group.turn < ASK_AGAIN)
    ]
    ready.sort(key=lambda g: g.turn)
    first = list(_within((g for g in ready if g.state.key in closely), GROUPS_A_POLL // 2, ROWS_A_POLL // 2))
    chosen = {id(g) for g in first}
    rest = (g for g in ready if id(g) not in chosen)
    return first + list(_within(rest, GROUPS_A_POLL - len(first), ROWS_A_POLL - sum(g.rows for g in first)))


def chunks_by_rows(groups: Iterable[GroupMemory], most_groups: int, most_rows: int) -> Iterator[list[GroupMemory]]:
    """Cut the groups of a poll into round trips that each ask for a few rows only."""
    chunk: list[GroupMemory] = []
    rows = 0
    for group in groups:
        if chunk and (len(chunk) >= most_groups or rows + group.rows > most_rows):
            yield chunk
            chunk, rows = [], 0
        chunk.append(group)
        rows += group.rows
    if chunk:
        yield chunk


def _within(groups: Iterable[GroupMemory], most_groups: int, most_rows: int) -> Iterator[GroupMemory]:
    """Pass on groups while the budgets last; the first one always, lest a great one never has its turn."""
    rows = 0
    for number, group in enumerate(groups):
        rows += group.rows
        if number >= most_groups or (number and rows > most_rows):
            return
        yield group
