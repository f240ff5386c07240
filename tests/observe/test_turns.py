"""Turns: what one poll reads where a server has more than a poll may read."""

from __future__ import annotations

from echomq_console.model.entry_id import ZERO
from echomq_console.model.snapshot import GroupState
from echomq_console.observe.memory import (
    GROUPS_A_POLL,
    ROWS_A_POLL,
    GroupMemory,
    StreamMemory,
    chunks_by_rows,
    groups_due,
    streams_due,
)
from echomq_console.observe.permissions import ASK_AGAIN
from echomq_console.observe.scan import PAGE


def _group(stream: bytes, name: bytes, pending: int) -> GroupMemory:
    return GroupMemory(GroupState(stream, name, pending, ZERO, 0, 0))


def _streams(count: int, groups: int = 1, pending: int = 0) -> list[StreamMemory]:
    made = [StreamMemory(b"s%04d" % n) for n in range(count)]
    for stream in made:
        for number in range(groups):
            stream.groups[b"g%d" % number] = _group(stream.key, b"g%d" % number, pending)
    return made


def test_few_are_read_at_every_poll() -> None:
    streams = _streams(40, groups=5, pending=10)
    assert streams_due(streams, (), 7, 100) == streams
    assert len(groups_due(streams, (), 7)) == 200


def test_many_streams_take_turns_and_all_have_theirs() -> None:
    streams = _streams(250)
    seen: set[bytes] = set()
    for tick in range(3):
        due = streams_due(streams, (), tick, 100)
        assert len(due) == 100
        for stream in due:
            stream.turn = tick
            seen.add(stream.key)
    assert len(seen) == 250


def test_what_is_on_the_screen_is_read_every_time() -> None:
    streams = _streams(250, groups=10)
    closely = {(b"s0249", b"g3")}
    for tick in range(5):
        due = streams_due(streams, closely, tick, 100)
        groups = groups_due(streams, closely, tick)
        assert len({id(s) for s in due}) == len(due) == 100
        assert b"s0249" in {s.key for s in due}
        assert (b"s0249", b"g3") in {g.state.key for g in groups}
        for stream in due:
            stream.turn = tick
        for group in groups:
            group.turn = tick


def test_the_screen_does_not_starve_the_rest() -> None:
    streams = _streams(100, groups=10, pending=PAGE)
    closely = {(s.key, g) for s in streams[:50] for g in s.groups}
    seen: set[tuple[bytes, bytes]] = set()
    for tick in range(300):
        due = groups_due(streams, closely, tick)
        assert sum(g.rows for g in due) <= ROWS_A_POLL
        for group in due:
            group.turn = tick
            seen.add(group.state.key)
    assert len(seen) == 1_000


def test_a_poll_reads_so_many_groups_and_rows() -> None:
    assert len(groups_due(_streams(100, groups=10), (), 0)) == GROUPS_A_POLL
    due = groups_due(_streams(100, groups=1, pending=3 * PAGE), (), 0)
    assert len(due) == ROWS_A_POLL // PAGE


def test_what_is_denied_is_asked_again_only_now_and_then() -> None:
    (stream,) = _streams(1)
    stream.is_denied, stream.turn = True, 5
    stream.groups[b"g0"].is_denied, stream.groups[b"g0"].turn = True, 5
    for tick, count in ((6, 0), (5 + ASK_AGAIN - 1, 0), (5 + ASK_AGAIN, 1)):
        assert len(streams_due([stream], (), tick, 100)) == count
        assert len(groups_due([stream], (), tick)) == count
    stream.forget_denials()
    assert streams_due([stream], (), 6, 100) == [stream]
    assert len(groups_due([stream], (), 6)) == 1


def test_a_round_trip_asks_for_few_groups_and_rows() -> None:
    chunks = list(chunks_by_rows([_group(b"s", b"g%d" % n, 600) for n in range(7)], 50, 2_000))
    assert [len(chunk) for chunk in chunks] == [3, 3, 1]
    chunks = list(chunks_by_rows([_group(b"s", b"g%d" % n, 0) for n in range(7)], 3, 2_000))
    assert [len(chunk) for chunk in chunks] == [3, 3, 1]
