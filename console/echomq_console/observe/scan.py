"""Paced scans: a pending list is looked at a page a poll, and counted as it goes by.

A page of 1,000 rows costs the server about 0.4 ms (measured on Valkey 9.1); the whole of a large list at once costs it
hundreds.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from echomq_console.model.buckets import DELIVERY_BUCKETS, IDLE_BUCKETS_MS
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import HeldRows, PendingEntry, PendingScan
from echomq_console.server.commands import PendingSummary

PAGE = 1000
"""The most rows one look at one group asks for."""

NAMED = 100
"""The most poison entries, and ghosts, that a scan names one by one."""


@dataclass(slots=True)
class _Held:
    rows: int = 0
    oldest_ms: int | None = None
    newest_ms: int | None = None
    max_count: int = 0
    overdue: int = 0
    oldest_overdue_ms: int | None = None
    poison: int = 0
    ghosts: int = 0

    def frozen(self) -> HeldRows:
        assert self.oldest_ms is not None
        assert self.newest_ms is not None
        return HeldRows(
            self.rows,
            self.oldest_ms,
            self.newest_ms,
            self.max_count,
            self.overdue,
            self.oldest_overdue_ms,
            self.poison,
            self.ghosts,
        )


@dataclass(slots=True)
class _Tally:
    """The counts of one round through a pending list."""

    began_at_ms: int
    rows: int = 0
    held: dict[bytes, _Held] = field(default_factory=dict)
    poison: list[PendingEntry] = field(default_factory=list)
    poison_count: int = 0
    ghosts: list[EntryId] = field(default_factory=list)
    ghost_count: int = 0
    idle_buckets: list[int] = field(default_factory=lambda: [0] * 5)
    delivery_buckets: list[int] = field(default_factory=lambda: [0] * 4)

    def add(self, row: PendingEntry, at_ms: int, thresholds: Thresholds, is_ghost: bool) -> None:
        delivered_ms = at_ms - row.idle_ms
        held = self.held.get(row.consumer)
        if held is None:
            held = self.held[row.consumer] = _Held()
        self.rows += 1
        held.rows += 1
        held.oldest_ms = delivered_ms if held.oldest_ms is None else min(held.oldest_ms, delivered_ms)
        held.newest_ms = delivered_ms if held.newest_ms is None else max(held.newest_ms, delivered_ms)
        held.max_count = max(held.max_count, row.delivery_count)
        self.idle_buckets[bisect.bisect_right(IDLE_BUCKETS_MS, row.idle_ms)] += 1
        self.delivery_buckets[bisect.bisect_left(DELIVERY_BUCKETS, row.delivery_count)] += 1
        if is_ghost:
            held.ghosts += 1
            self.ghost_count += 1
            if len(self.ghosts) < NAMED:
                self.ghosts.append(row.id)
        elif row.delivery_count >= thresholds.poison_deliveries:
            held.poison += 1
            self.poison_count += 1
            if len(self.poison) < NAMED:
                self.poison.append(row)
        elif row.idle_ms >= thresholds.job_ms:
            held.overdue += 1
            oldest = held.oldest_overdue_ms
            held.oldest_overdue_ms = delivered_ms if oldest is None else min(oldest, delivered_ms)

    def published(self, at_ms: int, total: int) -> PendingScan:
        idle, deliveries = self.idle_buckets, self.delivery_buckets
        return PendingScan(
            at_ms=at_ms,
            rows=self.rows,
            total=total,
            held={name: held.frozen() for name, held in self.held.items()},
            poison=tuple(self.poison),
            ghosts=tuple(self.ghosts),
            ghost_count=self.ghost_count,
            idle_buckets=(idle[0], idle[1], idle[2], idle[3], idle[4]),
            delivery_buckets=(deliveries[0], deliveries[1], deliveries[2], deliveries[3]),
            began_at_ms=self.began_at_ms if self.began_at_ms != at_ms else None,
            poison_count=self.poison_count,
        )


class PacedScan:
    """The look at one group's pending list, carried from poll to poll.

    A list of up to a page is complete at every look. A longer one is published in part while its first round lasts;
    afterwards the last complete round stays until the next one is complete.
    """

    def __init__(self) -> None:
        self.published: PendingScan | None = None
        self._cursor: EntryId | None = None
        self._tally: _Tally | None = None

    def start(self, pending: int) -> EntryId | None:
        """Where the next page begins (None: at the beginning), for a list of `pending` rows."""
        if pending <= PAGE:
            self._restart()
        return self._cursor

    def take(
        self,
        page: Sequence[PendingEntry],
        summary: PendingSummary,
        at_ms: int,
        thresholds: Thresholds,
        is_ghost: Callable[[EntryId], bool],
    ) -> None:
        """Count a page that was read at `at_ms`, in one round trip with the list's summary."""
        if self._tally is None:
            self._tally = _Tally(began_at_ms=at_ms)
        tally = self._tally
        for row in page:
            tally.add(row, at_ms, thresholds, is_ghost(row.id))
        is_last = len(page) < PAGE or (summary.greatest is not None and page[-1].id >= summary.greatest)
        if is_last:
            self.published = tally.published(at_ms, tally.rows)
            self._restart()
            return
        self._cursor = page[-1].id.successor()
        if self.published is None or not self.published.complete:
            # While rows are left, the total is more than what was seen, however much the list has shrunk meanwhile.
            self.published = tally.published(at_ms, max(summary.rows, tally.rows + 1))

    def empty(self, at_ms: int) -> None:
        """The list has no rows."""
        self._restart()
        self.published = _Tally(began_at_ms=at_ms).published(at_ms, 0)

    def _restart(self) -> None:
        self._cursor = None
        self._tally = None
