"""What the tests of views share: a snapshot of one group, and every text that a view would draw."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import (
    ConsumerState,
    GroupState,
    HeldRows,
    PendingEntry,
    PendingScan,
    ServerIdentity,
    Snapshot,
    StreamState,
)

NOW_MS = 1_769_526_697_641
"""The server's clock in these tests."""

HOUR_MS = 3_600_000
T_MS = 300_000
NOT_DRAWN = {("Row", "key"), ("Column", "key"), ("TableView", "sort"), ("PlanView", "handler"), ("PlanView", "ask")}
"""Fields of a view that never reach the screen as text; a handler's name is the operator's own."""


def texts(view: object) -> Iterator[str]:
    """Every text in a view that a widget would draw; what only says how it is drawn is left out."""
    if isinstance(view, str):
        yield view
    elif isinstance(view, tuple | list):
        for each in view:
            yield from texts(each)
    elif dataclasses.is_dataclass(view):
        for part in dataclasses.fields(view):
            kind = type(view).__name__
            if (kind, part.name) not in NOT_DRAWN and part.name not in ("tone", "align"):
                yield from texts(getattr(view, part.name))


def group_of(
    stream: bytes = b"orders",
    name: bytes = b"billing",
    consumer: bytes = b"web-1",
    *,
    pending: int = 3,
    idle_ms: int = HOUR_MS,
    deliveries: int = 1,
    **changed: Any,
) -> GroupState:
    """A group whose consumer has not been seen for `idle_ms`, and holds entries that long."""
    since = NOW_MS - idle_ms
    rows = tuple(PendingEntry(EntryId(1, n), consumer, idle_ms, deliveries) for n in range(min(pending, 100)))
    poison = rows if deliveries >= 5 else ()
    overdue = pending - len(poison) if idle_ms >= T_MS else 0
    oldest = since if overdue else None
    held = {consumer: HeldRows(pending, since, since, deliveries, overdue, oldest, len(poison))}
    scan = PendingScan(
        NOW_MS, pending, pending, held, poison, (), 0, (0, 0, 0, 0, pending), (pending, 0, 0, 0), None, len(poison)
    )
    said: dict[str, Any] = {
        "stream": stream,
        "name": name,
        "pending": pending,
        "last_delivered_id": EntryId(NOW_MS - 1000, 0),
        "entries_read": 100,
        "lag": 0,
        "consumers": (ConsumerState(consumer, pending, idle_ms, idle_ms),),
        "scan": scan if pending else None,
    }
    return GroupState(**said | changed)


def snapshot_of(*groups: GroupState, **changed: Any) -> Snapshot:
    """A snapshot of groups, each on its own stream unless they name the same."""
    keys = list(dict.fromkeys(group.stream for group in groups))
    last = EntryId(NOW_MS - 1000, 0)
    streams = tuple(
        StreamState(key, 100, last, EntryId(1, 0), 100, None, tuple(g for g in groups if g.stream == key))
        for key in keys
    )
    said: dict[str, Any] = {
        "server": ServerIdentity("redis://127.0.0.1:6379", "valkey", (9, 1, 2), "primary"),
        "taken_at_ms": NOW_MS,
        "streams": streams,
    }
    return Snapshot(**said | changed)
