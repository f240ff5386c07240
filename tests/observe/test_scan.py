"""Paced scans and ghosts, by themselves: what a page counts as, and how rounds follow one another."""

from __future__ import annotations

import pytest

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import PendingEntry, PendingScan, StreamState
from echomq_console.observe.ghosts import GhostWatch
from echomq_console.observe.scan import NAMED, PAGE, PacedScan
from echomq_console.server.commands import PendingSummary

T = 300_000
NOW = 1_000_000_000
THRESHOLDS = Thresholds(job_ms=T, poison_deliveries=5)


def _rows(count: int, first: int = 1, *, idle: int = 10, deliveries: int = 1) -> list[PendingEntry]:
    return [PendingEntry(EntryId(first + n, 0), b"c", idle, deliveries) for n in range(count)]


def _summary(rows: int, greatest: int) -> PendingSummary:
    return PendingSummary(rows, EntryId(1, 0), EntryId(greatest, 0), {b"c": rows})


def _take(
    scan: PacedScan, rows: list[PendingEntry], total: int, *, at_ms: int = NOW, ghosts: tuple[int, ...] = ()
) -> None:
    scan.take(rows, _summary(total, total), at_ms, THRESHOLDS, lambda entry_id: entry_id.ms in ghosts)


def _look(rows: list[PendingEntry], ghosts: tuple[int, ...] = ()) -> PendingScan:
    scan = PacedScan()
    assert scan.start(len(rows)) is None
    _take(scan, rows, len(rows), ghosts=ghosts)
    assert scan.published is not None
    return scan.published


@pytest.mark.parametrize(
    ("idle", "deliveries", "overdue", "poison"),
    [(T - 1, 4, 0, 0), (T, 4, 1, 0), (T, 5, 0, 1), (0, 5, 0, 1), (0, 4, 0, 0)],
)
def test_overdue_and_poison_have_exact_boundaries(idle: int, deliveries: int, overdue: int, poison: int) -> None:
    seen = _look(_rows(1, idle=idle, deliveries=deliveries))
    held = seen.held[b"c"]
    assert (held.overdue, held.poison) == (overdue, poison)
    assert held.oldest_overdue_ms == (NOW - idle if overdue else None)
    assert (seen.poison_count, len(seen.poison)) == (poison, poison)


def test_a_ghost_is_neither_overdue_nor_poison() -> None:
    seen = _look([*_rows(1, 1, idle=T), *_rows(1, 2, deliveries=9)], ghosts=(1, 2))
    held = seen.held[b"c"]
    assert (held.rows, held.ghosts, held.overdue, held.poison) == (2, 2, 0, 0)
    assert (seen.ghosts, seen.ghost_count, seen.poison) == ((EntryId(1, 0), EntryId(2, 0)), 2, ())


def test_times_are_the_servers_and_of_the_row() -> None:
    rows = [PendingEntry(EntryId(n, 0), b"c", idle, n) for n, idle in ((1, 500), (2, T + 7), (3, 20))]
    held = _look(rows).held[b"c"]
    assert (held.oldest_delivery_ms, held.newest_delivery_ms) == (NOW - T - 7, NOW - 20)
    assert held.oldest_overdue_ms == NOW - T - 7
    assert held.max_delivery_count == 3


def test_buckets() -> None:
    idles = (0, 999, 1_000, 59_999, 60_000, 299_999, 300_000, 3_599_999, 3_600_000)
    rows = [PendingEntry(EntryId(n + 1, 0), b"c", idle, n + 1) for n, idle in enumerate(idles)]
    seen = _look(rows)
    assert seen.idle_buckets == (2, 2, 2, 2, 1)
    assert seen.delivery_buckets == (1, 1, 3, 4)


def test_only_so_many_are_named() -> None:
    seen = _look([*_rows(NAMED + 20, 1, deliveries=5), *_rows(NAMED + 30, 500)], ghosts=tuple(range(500, 700)))
    assert (len(seen.poison), seen.poison_count) == (NAMED, NAMED + 20)
    assert (len(seen.ghosts), seen.ghost_count) == (NAMED, NAMED + 30)


def test_a_list_of_one_full_page_is_complete_at_once() -> None:
    seen = _look(_rows(PAGE))
    assert (seen.rows, seen.total, seen.complete, seen.began_at_ms) == (PAGE, PAGE, True, None)


def test_a_long_list_is_published_in_part_then_stays_until_the_next_round_is_complete() -> None:
    scan, total = PacedScan(), 2 * PAGE + 5
    for page, expected in ((0, (PAGE, total)), (1, (2 * PAGE, total)), (2, (total, total))):
        start = scan.start(total)
        assert start == (EntryId(page * PAGE, 1) if page else None)
        count = min(PAGE, total - page * PAGE)
        _take(scan, _rows(count, page * PAGE + 1), total, at_ms=NOW + page)
        assert scan.published is not None
        assert (scan.published.rows, scan.published.total) == expected
        assert scan.published.complete == (page == 2)
    first = scan.published
    assert first is not None
    assert (first.at_ms, first.began_at_ms) == (NOW + 2, NOW)
    assert scan.start(total) is None
    _take(scan, _rows(PAGE), total, at_ms=NOW + 3)
    assert scan.published is first
    scan.start(total)
    _take(scan, _rows(10, PAGE + 1), PAGE + 10, at_ms=NOW + 4)
    assert scan.published is not first
    assert (scan.published.rows, scan.published.at_ms) == (PAGE + 10, NOW + 4)


def test_a_list_that_shrinks_during_the_first_round_is_not_called_complete() -> None:
    scan = PacedScan()
    scan.start(3 * PAGE)
    _take(scan, _rows(PAGE), 3 * PAGE)
    scan.start(1_500)
    scan.take(_rows(PAGE, PAGE + 1), _summary(1_500, 9 * PAGE), NOW, THRESHOLDS, lambda _: False)
    assert scan.published is not None
    assert not scan.published.complete


def test_a_list_that_became_short_is_looked_at_from_the_beginning() -> None:
    scan = PacedScan()
    scan.start(3 * PAGE)
    _take(scan, _rows(PAGE), 3 * PAGE)
    assert scan.start(PAGE) is None
    _take(scan, _rows(7, 5_000), 7)
    assert scan.published is not None
    assert (scan.published.rows, scan.published.complete) == (7, True)


def test_an_empty_list_is_complete() -> None:
    scan = PacedScan()
    scan.start(5)
    _take(scan, _rows(5), 5)
    scan.empty(NOW + 9)
    assert scan.published is not None
    assert (scan.published.rows, scan.published.total, scan.published.complete) == (0, 0, True)
    assert (scan.published.held, scan.published.at_ms) == ({}, NOW + 9)


def _stream(first: int | None, last: int = 100, max_deleted: int | None = 0) -> StreamState:
    return StreamState(
        b"s",
        0 if first is None else 10,
        EntryId(last, 0),
        None if first is None else EntryId(first, 0),
        100,
        None if max_deleted is None else EntryId(max_deleted, 0),
    )


class TestGhosts:
    def test_below_the_first_id_is_gone_for_sure(self) -> None:
        watch = GhostWatch()
        watch.update(_stream(50))
        assert watch.is_ghost(EntryId(49, 9))
        assert not watch.is_ghost(EntryId(50, 0))
        assert watch.suspects(_rows(1, 49)) == []

    def test_an_emptied_stream_has_none_left_but_later_ones_are_new(self) -> None:
        watch = GhostWatch()
        watch.update(_stream(None, last=100))
        assert watch.is_ghost(EntryId(100, 0))
        assert not watch.is_ghost(EntryId(100, 1))

    def test_only_ids_up_to_the_greatest_deleted_one_are_asked_for(self) -> None:
        watch = GhostWatch()
        watch.update(_stream(50, max_deleted=60))
        assert watch.suspects(_rows(20, 45)) == [EntryId(ms, 0) for ms in range(50, 61)]
        watch.update(_stream(50, max_deleted=None))
        assert watch.suspects(_rows(20, 45)) == []

    def test_answers_are_kept_until_something_more_was_deleted(self) -> None:
        watch = GhostWatch()
        watch.update(_stream(50, max_deleted=60))
        watch.learn(EntryId(55, 0), is_there=True)
        watch.learn(EntryId(56, 0), is_there=False)
        watch.update(_stream(50, max_deleted=60))
        assert watch.suspects(_rows(2, 55)) == []
        assert watch.is_ghost(EntryId(56, 0))
        assert not watch.is_ghost(EntryId(55, 0))
        watch.update(_stream(50, max_deleted=61))
        assert watch.suspects(_rows(2, 55)) == [EntryId(55, 0)]
        assert watch.is_ghost(EntryId(56, 0))
