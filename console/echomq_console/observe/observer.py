"""The observer: one poll is a small number of round trips that only look, and gives one snapshot.

It sends XINFO, XPENDING, XRANGE, XREVRANGE, SCAN, TIME, INFO and CLIENT LIST, nothing else: looking must not change
what it looks at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any, NamedTuple, TypeVar

from echomq_console.model.dead_letter import dead_letter_of
from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import GroupState, PendingEntry, Snapshot, StreamState, Vanished
from echomq_console.model.text import harmless
from echomq_console.server import commands
from echomq_console.server.commands import Command, PendingSummary
from echomq_console.server.errors import Denied, NoGroup, NoKey, Refused, ServerError, Unreachable, WrongType
from echomq_console.server.wire import Wire

from .discovery import FIRST_SECONDS, FIRST_STEPS, Discovery
from .greeting import Greeting
from .memory import FIRST_STREAMS, STREAMS_A_POLL, GroupMemory, StreamMemory, chunks_by_rows, groups_due, streams_due
from .picture import problems, stream_states
from .scan import PAGE

STREAMS_A_TRIP = 20
GROUPS_A_TRIP = 50
ROWS_A_TRIP = 2_000
"""What one pipeline asks for at most: under a millisecond of the server's time, so that nobody waits behind it."""

PROBES_A_POLL = 50
PROBES_A_TRIP = 10
PROBED_BYTES = 256 * 1024
"""Asking whether an entry is there brings its body along: the poll stops asking once it has received so much."""

_VANISHED = 100
_T = TypeVar("_T")


class _Look(NamedTuple):
    group: GroupMemory
    page: tuple[PendingEntry, ...]
    summary: PendingSummary
    at_ms: int


class Observer:
    """Polls one server.

    `thresholds` decide what a scan counts as overdue and as poison. `match`: only streams of this pattern; `streams`:
    exactly these. `clock`: seconds, for measuring; `wall_clock`: Unix seconds, used only where TIME is denied.
    """

    def __init__(
        self,
        wire: Wire,
        thresholds: Thresholds,
        *,
        match: bytes | None = None,
        streams: Sequence[bytes] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._wire = wire
        self._thresholds = thresholds
        self._clock = clock
        self._discovery = Discovery(match, streams)
        self._greeting = Greeting(wire.address, self._ask, clock=clock, wall_clock=wall_clock)
        self._streams: dict[bytes, StreamMemory] = {}
        self._vanished: dict[tuple[bytes, bytes | None], int] = {}
        self._closely: frozenset[tuple[bytes, bytes]] = frozenset()
        self._tick = -1
        self._must_greet = True
        self._remember(self._discovery.given or ())

    def look_closely(self, groups: Collection[tuple[bytes, bytes]]) -> None:
        """Name the groups (stream, group) on the screen: where a server has too many for one poll, these go first."""
        self._closely = frozenset(groups)

    async def tick(self) -> Snapshot:
        """Poll once. Raises Unreachable or Refused where there is no connection; smaller refusals are `problems`.

        One poll at a time. After a lost connection the next poll looks for everything anew.
        """
        began = self._clock()
        is_new = self._must_greet or not self._wire.is_open
        if is_new:
            self._greeting.forget()
            self._discovery.restart()
            for memory in self._streams.values():
                memory.forget_denials()
        self._must_greet = True  # until this poll came to its end
        self._tick += 1
        await self._search(is_new)
        taken_at_ms = self._greeting.now_ms()
        await self._read_streams(FIRST_STREAMS if is_new else STREAMS_A_POLL)
        await self._read_groups()
        self._must_greet = False
        return Snapshot(
            server=self._greeting.identity,
            taken_at_ms=taken_at_ms,
            streams=stream_states(self._streams.values(), self._greeting.tagged),
            seconds=self._clock() - began,
            server_clock=self._greeting.server_clock,
            problems=(*self._greeting.permissions.lines(), *problems(self._streams.values(), self._wire.address)),
            complete=self._discovery.complete,
            vanished=tuple(Vanished(stream, group, at_ms) for (stream, group), at_ms in self._vanished.items())[::-1],
        )

    async def _ask(self, asked: Sequence[Command[Any]]) -> list[Any]:
        """Ask in one round trip; the place of a smaller refusal holds its ServerError."""
        replies = await self._wire.ask_all(asked)
        for reply in replies:
            if isinstance(reply, Unreachable | Refused):
                raise reply
        return replies

    # The clock, the server, and the search for streams.

    async def _search(self, is_new: bool) -> None:
        """Go a step on; through all keys, as far as the budget goes, where the connection is new."""
        page = await self._greeting.greet(self._tick, self._discovery.command())
        give_up = self._clock() + FIRST_SECONDS
        for _ in range(FIRST_STEPS):
            if page is None:
                return
            self._remember(self._discovery.take(page))
            scan = self._discovery.command()
            if scan is None or self._discovery.complete or not is_new or self._clock() >= give_up:
                return
            page = await self._greeting.step(scan)

    def _remember(self, keys: Iterable[bytes]) -> None:
        new = [key for key in keys if key not in self._streams]
        for key in new:
            self._streams[key] = StreamMemory(key)
        for key in self._discovery.implied(new):
            if key not in self._streams:
                self._streams[key] = StreamMemory(key, is_implied=True)

    # The streams: XINFO STREAM and XINFO GROUPS.

    async def _read_streams(self, budget: int) -> None:
        due = streams_due(self._streams.values(), self._closely, self._tick, budget)
        for chunk in _chunks(due, STREAMS_A_TRIP):
            asked: list[Command[Any]] = []
            for memory in chunk:
                asked += [commands.stream_info(memory.key), commands.stream_groups(memory.key)]
                if memory.is_dead_letters is None:
                    asked.append(commands.entries_back(memory.key, count=1))
            replies = iter(await self._ask(asked))
            at_ms = self._greeting.now_ms()
            for memory in chunk:
                info, groups = next(replies), next(replies)
                newest = next(replies) if memory.is_dead_letters is None else ()
                memory.turn = self._tick
                self._take_stream(memory, info, groups, newest, at_ms)

    def _take_stream(
        self,
        memory: StreamMemory,
        info: StreamState | ServerError,
        groups: tuple[GroupState, ...] | ServerError,
        newest: tuple[StreamEntry, ...] | ServerError,
        at_ms: int,
    ) -> None:
        error = next((reply for reply in (info, groups) if isinstance(reply, ServerError)), None)
        memory.is_denied = isinstance(error, Denied)
        memory.problem = str(error) if error is not None else None
        if isinstance(error, NoKey | WrongType):
            self._take_absence(memory, error, at_ms)
        if isinstance(info, ServerError):
            return
        before, memory.state = memory.state, replace(info, read_at_ms=at_ms)
        if before is not None and info.last_generated_id < before.last_generated_id:
            memory.groups.clear()  # made again under the same name: nothing that was known holds
        self._vanished.pop((memory.key, None), None)
        if isinstance(newest, ServerError):
            memory.is_dead_letters = False  # it cannot be told, so it is shown as what it is
        elif newest:
            memory.is_dead_letters = dead_letter_of(newest[0]) is not None
        if isinstance(groups, ServerError):
            return
        for name in memory.groups.keys() - {group.name for group in groups}:
            del memory.groups[name]
            self._note_vanished(memory.key, name, at_ms)
        for group in groups:
            known = memory.groups.setdefault(group.name, GroupMemory(group))
            known.state = group
            known.ghosts.update(info)
            self._vanished.pop(group.key, None)

    def _take_absence(self, memory: StreamMemory, error: ServerError, at_ms: int) -> None:
        """The key is gone, or holds something else now."""
        if memory.state is not None:
            for name in memory.groups:
                self._note_vanished(memory.key, name, at_ms)
            self._note_vanished(memory.key, None, at_ms)
        memory.state = None
        memory.groups.clear()
        is_given = self._discovery.given is not None and memory.key in self._discovery.given
        if is_given:
            gone = isinstance(error, NoKey)
            shown = harmless(memory.key)
            memory.problem = f"no stream '{shown}'" if gone else f"'{shown}' holds something that is no stream"
        elif memory.is_implied:
            memory.problem = None
        else:
            del self._streams[memory.key]

    def _note_vanished(self, stream: bytes, group: bytes | None, at_ms: int) -> None:
        self._vanished[(stream, group)] = at_ms
        while len(self._vanished) > _VANISHED:
            del self._vanished[next(iter(self._vanished))]

    # The groups: XINFO CONSUMERS, the XPENDING summary, and a page of the pending list.

    async def _read_groups(self) -> None:
        looks: list[_Look] = []
        due = groups_due(self._streams.values(), self._closely, self._tick)
        for chunk in chunks_by_rows(due, GROUPS_A_TRIP, ROWS_A_TRIP):
            asked = [self._commands_for(group) for group in chunk]
            replies = iter(await self._ask([command for some in asked for command in some]))
            at_ms = self._greeting.now_ms()
            for group, some in zip(chunk, asked, strict=True):
                group.turn = self._tick
                looks += self._take_group(group, [next(replies) for _ in some], at_ms)
        await self._probe(looks)
        for look in looks:
            look.group.scan.take(look.page, look.summary, look.at_ms, self._thresholds, look.group.ghosts.is_ghost)

    def _commands_for(self, group: GroupMemory) -> list[Command[Any]]:
        key, name = group.state.key
        asked: list[Command[Any]] = [commands.group_consumers(key, name)]
        if group.state.pending:
            start = group.scan.start(group.state.pending)
            asked.append(commands.pending_summary(key, name))
            asked.append(commands.pending_range(key, name, start=start or b"-", count=PAGE))
        return asked

    def _take_group(self, group: GroupMemory, replies: list[Any], at_ms: int) -> Iterator[_Look]:
        refusals = [reply for reply in replies if isinstance(reply, ServerError)]
        if any(isinstance(refusal, NoGroup | NoKey) for refusal in refusals):
            return  # destroyed between two round trips: the next poll misses it
        group.is_denied = any(isinstance(refusal, Denied) for refusal in refusals)
        group.problem = str(refusals[0]) if refusals else None
        consumers, *listed = replies
        if not isinstance(consumers, ServerError):
            group.consumers, group.consumers_at_ms = consumers, at_ms
        if not listed:
            group.summary = None
            group.scan.empty(at_ms)
        elif not any(isinstance(reply, ServerError) for reply in listed):
            group.summary, page = listed
            yield _Look(group, page, listed[0], at_ms)

    async def _probe(self, looks: Sequence[_Look]) -> None:
        """Ask whether suspected ghosts are still in their streams, taking turns among the groups."""
        by_group = [
            [(look.group, entry_id) for entry_id in islice(look.group.ghosts.suspects(look.page), PROBES_A_POLL)]
            for look in looks
        ]
        suspects = [s for some in zip_longest(*by_group) for s in some if s is not None][:PROBES_A_POLL]
        received = 0
        for chunk in _chunks(suspects, PROBES_A_TRIP):
            if received > PROBED_BYTES or not self._greeting.permissions.may("XRANGE", self._tick):
                return
            asked = [_probe_command(group, entry_id) for group, entry_id in chunk]
            for (group, entry_id), reply in zip(chunk, await self._ask(asked), strict=True):
                if not self._greeting.was_refused("XRANGE", reply):
                    group.ghosts.learn(entry_id, is_there=bool(reply))
                    received += sum(len(name) + len(value) for entry in reply for name, value in entry.pairs)


def _probe_command(group: GroupMemory, entry_id: EntryId) -> Command[tuple[StreamEntry, ...]]:
    return commands.entries_between(group.state.stream, start=entry_id, end=entry_id, count=1)


def _chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
