"""History: rates and series; unknown is None, never 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

from echomq_console.model.entry_id import ZERO
from echomq_console.model.snapshot import GroupState, ServerIdentity, Snapshot, StreamState
from echomq_console.observe.history import GroupRates, History

KEY = (b"orders", b"billing")


def _snapshot(
    at_ms: int, *, added: int | None, read: int | None, pending: int, lag: int | None = 0, read_at_ms: int | None = None
) -> Snapshot:
    group = GroupState(*KEY, pending=pending, last_delivered_id=ZERO, entries_read=read, lag=lag)
    stream = StreamState(KEY[0], 10, ZERO, None, added, None, groups=(group,), read_at_ms=read_at_ms)
    return Snapshot(ServerIdentity("redis://127.0.0.1:6379"), at_ms, (stream,))


def _history(*snapshots: Snapshot) -> History:
    history = History()
    for snapshot in snapshots:
        history.add(snapshot)
    return history


def test_rates_are_entries_a_second_by_the_servers_clock() -> None:
    history = _history(
        _snapshot(10_000, added=100, read=90, pending=5), _snapshot(12_000, added=140, read=120, pending=9)
    )
    assert history.rates(KEY) == GroupRates(in_per_s=20.0, delivered_per_s=15.0, acked_per_s=13.0)


def test_a_window_looks_only_so_far_back() -> None:
    history = _history(*(_snapshot(n * 1_000, added=n * n, read=0, pending=0) for n in range(30)))
    assert history.rates(KEY, window_ms=1_000).in_per_s == 29**2 - 28**2
    assert history.rates(KEY, window_ms=10_000).in_per_s == (29**2 - 19**2) / 10


def test_polls_further_apart_than_the_window_are_still_compared() -> None:
    history = _history(_snapshot(0, added=0, read=0, pending=0), _snapshot(60_000, added=60, read=0, pending=0))
    assert history.rates(KEY).in_per_s == 1.0


@pytest.mark.parametrize("snapshots", [(), (_snapshot(1, added=1, read=1, pending=0),)])
def test_nothing_is_known_before_the_second_snapshot(snapshots: tuple[Snapshot, ...]) -> None:
    assert _history(*snapshots).rates(KEY) == GroupRates(None, None, None)


def test_what_the_server_does_not_say_is_unknown_not_zero() -> None:
    first = _snapshot(0, added=None, read=None, pending=5, lag=None)
    history = _history(first, replace(first, taken_at_ms=1_000))
    assert history.rates(KEY) == GroupRates(None, None, None)
    assert history.series(KEY, "in") == (None,)
    assert history.series(KEY, "lag") == (None, None)
    assert history.series(KEY, "pending") == (5.0, 5.0)


def test_acknowledged_is_never_negative() -> None:
    history = _history(_snapshot(0, added=9, read=9, pending=0), _snapshot(1_000, added=9, read=9, pending=4))
    assert history.rates(KEY) == GroupRates(0.0, 0.0, None)


def test_a_counter_that_runs_backwards_is_another_group_of_that_name() -> None:
    history = _history(
        _snapshot(0, added=900, read=900, pending=0),
        _snapshot(1_000, added=5, read=0, pending=0),
        _snapshot(2_000, added=8, read=2, pending=0),
    )
    assert history.rates(KEY) == GroupRates(3.0, 2.0, 2.0)
    assert history.series(KEY, "in") == (3.0,)


def test_a_stream_whose_turn_did_not_come_adds_nothing() -> None:
    history = _history(
        _snapshot(1_000, added=10, read=0, pending=0, read_at_ms=1_000),
        _snapshot(2_000, added=10, read=0, pending=0, read_at_ms=1_000),
        _snapshot(3_000, added=30, read=0, pending=0, read_at_ms=3_000),
    )
    assert history.series(KEY, "in") == (10.0,)


def test_series_are_bounded_and_in_order() -> None:
    history = History(limit=5)
    for n in range(20):
        history.add(_snapshot(n * 1_000, added=n * n, read=n * 2, pending=n))
    assert history.series(KEY, "pending", 3) == (17.0, 18.0, 19.0)
    assert history.series(KEY, "pending", 30) == (15.0, 16.0, 17.0, 18.0, 19.0)
    assert history.series(KEY, "in", 2) == (18**2 - 17**2, 19**2 - 18**2)
    assert history.series(KEY, "delivered", 1) == (2.0,)
    assert history.series(KEY, "acked", 1) == (1.0,)


def test_a_group_that_is_gone_is_forgotten() -> None:
    first = _snapshot(0, added=1, read=0, pending=3)
    history = _history(first, replace(first, taken_at_ms=1_000, streams=()))
    assert history.series(KEY, "pending") == ()
