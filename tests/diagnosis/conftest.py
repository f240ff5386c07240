"""Snapshots built by hand: one stream, one group, and what a test says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from echomq_console.diagnosis import diagnose
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.model.snapshot import (
    ConsumerState,
    GroupState,
    HeldRows,
    PendingScan,
    ServerIdentity,
    Snapshot,
    StreamState,
)

NOW_MS = 1_769_526_697_641
T = 300_000


@dataclass
class World:
    """Builds the snapshot of one group, healthy unless told otherwise; times in milliseconds before `now_ms`."""

    stream: bytes = b"orders"
    group: bytes = b"billing"
    now_ms: int = NOW_MS
    thresholds: Thresholds = field(default_factory=Thresholds)
    consumers: list[ConsumerState] = field(default_factory=list)
    held: dict[bytes, HeldRows] = field(default_factory=dict)
    group_fields: dict[str, Any] = field(default_factory=dict)
    stream_fields: dict[str, Any] = field(default_factory=dict)
    scan_fields: dict[str, Any] = field(default_factory=dict)
    is_scanned: bool = True

    def consumer(
        self,
        name: bytes,
        *,
        idle: int,
        rows: int = 0,
        longest: int | None = None,
        shortest: int | None = None,
        overdue: int = 0,
        longest_overdue: int | None = None,
        **fields: Any,
    ) -> World:
        """Add a consumer that tried `idle` ago and holds `rows`, delivered between `longest` and `shortest` ago."""
        poison, ghosts = fields.pop("poison", 0), fields.pop("ghosts", 0)
        count = fields.pop("max_delivery_count", 1)
        self.consumers.append(ConsumerState(name, fields.pop("pending", rows), idle, **fields))
        if rows:
            oldest = idle if longest is None else longest
            youngest = oldest if shortest is None else shortest
            since = None if not overdue else self.now_ms - (oldest if longest_overdue is None else longest_overdue)
            self.held[name] = HeldRows(
                rows, self.now_ms - oldest, self.now_ms - youngest, count, overdue, since, poison, ghosts
            )
        return self

    def snapshot(self) -> Snapshot:
        """The snapshot."""
        pending = sum(consumer.pending for consumer in self.consumers)
        rows = sum(held.rows for held in self.held.values())
        scan = PendingScan(self.now_ms, rows, rows, self.held, (), (), 0, (0, 0, 0, 0, 0), (rows, 0, 0, 0))
        group = GroupState(
            stream=self.stream,
            name=self.group,
            pending=pending,
            last_delivered_id=EntryId(100, 0),
            entries_read=100,
            lag=0,
            consumers=tuple(self.consumers),
            scan=replace(scan, **self.scan_fields) if self.is_scanned else None,
        )
        stream = StreamState(self.stream, 100, EntryId(100, 0), EntryId(1, 0), 100, EntryId(0, 0))
        return Snapshot(
            ServerIdentity("redis://127.0.0.1:6379"),
            self.now_ms,
            (replace(stream, groups=(replace(group, **self.group_fields),), **self.stream_fields),),
        )

    def findings(
        self, *previous: Snapshot, touched: dict[tuple[bytes, bytes, bytes], int] | None = None
    ) -> list[Finding]:
        """The diagnosis."""
        return list(diagnose(self.snapshot(), previous, self.thresholds, touched=touched or {}))

    def rules(self, *previous: Snapshot) -> list[str]:
        """The names of the rules that fire."""
        return [finding.rule for finding in self.findings(*previous)]


@pytest.fixture
def make() -> Callable[..., World]:
    """Make a world."""
    return World
