"""The picture: what is remembered, put together into the frozen states of a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from echomq_console.model.keys import parent_of_dead_letters
from echomq_console.model.snapshot import ConsumerState, GroupState, StreamState
from echomq_console.model.text import harmless, number

from .identity import own_connections
from .memory import NOT_YET, GroupMemory, StreamMemory

_NAMED = 3

Owners = Mapping[tuple[bytes, bytes, bytes], tuple[str, ...]]


def stream_states(memories: Iterable[StreamMemory], tagged: Mapping[str, tuple[str, ...]]) -> tuple[StreamState, ...]:
    """Every stream with its groups, by key; dead letters are under their parents.

    A dead-letter stream is hidden behind its parent only while nobody reads it: one with groups of its own can get
    stuck like any other.
    """
    known = {memory.key: memory for memory in memories if memory.state is not None}
    dead = _dead_letters_by_parent(known)
    owners = _owners(known.values(), tagged)
    return tuple(
        _stream_state(memory, dead.get(key), owners)
        for key, memory in sorted(known.items())
        if memory.groups or not _is_under_a_parent(memory, dead)
    )


def problems(memories: Iterable[StreamMemory], address: str) -> tuple[str, ...]:
    """What could not be read, one line a reason, with the first few names it concerns."""
    missing: list[str] = []
    refused: dict[str, list[bytes]] = {}
    for memory in memories:
        if memory.state is None and memory.problem is not None and not memory.is_denied:
            missing.append(f"{memory.problem} on {address}")
        elif memory.problem is not None:
            refused.setdefault(memory.problem, []).append(memory.key)
        for group in memory.groups.values():
            if group.problem is not None and group.problem != NOT_YET:
                refused.setdefault(group.problem, []).append(memory.key)
    return (*missing, *(f"{reason} ({_some(list(dict.fromkeys(keys)))})" for reason, keys in refused.items()))


def _some(keys: Sequence[bytes]) -> str:
    named = ", ".join(f"'{harmless(key, 60)}'" for key in keys[:_NAMED])
    more = f" and {number(len(keys) - _NAMED)} more" if len(keys) > _NAMED else ""
    return named + more


def _dead_letters_by_parent(known: Mapping[bytes, StreamMemory]) -> dict[bytes, StreamMemory]:
    found: dict[bytes, StreamMemory] = {}
    for key, memory in known.items():
        parent = parent_of_dead_letters(key) if memory.is_dead_letters else None
        if parent is not None and parent in known:
            found[parent] = memory
    return found


def _is_under_a_parent(memory: StreamMemory, dead: Mapping[bytes, StreamMemory]) -> bool:
    parent = parent_of_dead_letters(memory.key)
    return parent is not None and dead.get(parent) is memory


def _stream_state(memory: StreamMemory, dead: StreamMemory | None, owners: Owners) -> StreamState:
    assert memory.state is not None
    letters = dead.state if dead is not None else None
    return replace(
        memory.state,
        groups=tuple(_group_state(group, owners) for _, group in sorted(memory.groups.items())),
        dead_letters=letters.length if letters is not None else 0,
        dead_letter_key=letters.key if letters is not None else None,
    )


def _group_state(memory: GroupMemory, owners: Owners) -> GroupState:
    summary = memory.summary
    return replace(
        memory.state,
        consumers=tuple(_with_connections(memory.state, consumer, owners) for consumer in memory.consumers),
        consumers_at_ms=memory.consumers_at_ms,
        smallest_pending_id=summary.smallest if summary is not None else None,
        greatest_pending_id=summary.greatest if summary is not None else None,
        scan=memory.scan.published,
        problem=memory.problem,
    )


def _with_connections(group: GroupState, consumer: ConsumerState, owners: Owners) -> ConsumerState:
    found = owners.get((*group.key, consumer.name))
    return consumer if found is None else replace(consumer, connections=found)


def _owners(memories: Iterable[StreamMemory], tagged: Mapping[str, tuple[str, ...]]) -> Owners:
    if not tagged:
        return {}
    return own_connections(
        tagged,
        [
            (*group.state.key, consumer.name)
            for memory in memories
            for group in memory.groups.values()
            for consumer in group.consumers
        ],
    )
