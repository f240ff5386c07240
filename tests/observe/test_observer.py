"""The observer on real servers: what a poll sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from echomq_console.diagnosis import diagnose
from echomq_console.model.dead_letter import Provenance
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.snapshot import GroupState, Snapshot
from echomq_console.observe.observer import Observer
from echomq_console.observe.scan import PAGE
from echomq_console.server.wire import Wire

T = 300_000
Seed = Callable[..., Awaitable[tuple[EntryId, ...]]]


def _only_group(snapshot: Snapshot) -> GroupState:
    (stream,) = snapshot.streams
    (group,) = stream.groups
    return group


async def test_what_a_poll_sees(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    old = await seed(any_wire, stream, count=3, consumer=b"web-3", idle=2 * T)
    (poison,) = await seed(any_wire, stream, count=1, consumer=b"web-1", idle=50, deliveries=7)
    young = await seed(any_wire, stream, count=2, consumer=b"web-1")
    (new,) = map(EntryId.parse, await any_wire.pipeline([("XADD", stream, "*", "n", "new")]))
    snapshot = await Observer(any_wire, Thresholds(), streams=[stream]).tick()

    (seen,) = snapshot.streams
    assert (seen.key, seen.length, seen.first_id, seen.last_generated_id) == (stream, 7, old[0], new)
    assert seen.entries_added == 7
    group = _only_group(snapshot)
    assert (group.pending, group.lag, group.entries_read) == (6, 1, 6)
    assert (group.smallest_pending_id, group.greatest_pending_id) == (old[0], young[-1])
    assert {c.name: c.pending for c in group.consumers} == {b"web-3": 3, b"web-1": 3}
    assert {c.connections for c in group.consumers} == {None}
    scan = group.scan
    assert scan is not None
    assert (scan.rows, scan.total, scan.complete) == (6, 6, True)
    assert (scan.held[b"web-3"].rows, scan.held[b"web-3"].overdue) == (3, 3)
    assert (scan.held[b"web-1"].rows, scan.held[b"web-1"].overdue, scan.held[b"web-1"].poison) == (3, 0, 1)
    assert [row.id for row in scan.poison] == [poison]
    assert scan.ghosts == ()
    longest = group.longest_idle_ms(snapshot.taken_at_ms)
    assert longest is not None
    assert 2 * T <= longest < 2 * T + 60_000
    assert group.max_delivery_count == 7
    assert (snapshot.problems, snapshot.server_clock, snapshot.complete) == ((), True, True)


async def test_an_unknown_lag_stays_unknown(any_wire: Wire, stream: bytes) -> None:
    await any_wire.pipeline([("XADD", stream, "*", "n", n) for n in range(3)])
    await any_wire.call("XGROUP", "CREATE", stream, "g", "$")
    await any_wire.call("XADD", stream, "*", "n", "new")
    group = _only_group(await Observer(any_wire, Thresholds(), streams=[stream]).tick())
    assert group.lag is None
    assert group.pending == 0
    assert group.scan is not None
    assert group.scan.complete


async def test_hostile_names_arrive_as_they_are(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    name = b"\x1b[2J\xff\x00 [/x]"
    await seed(any_wire, stream + name, name, consumer=name, count=1)
    group = _only_group(await Observer(any_wire, Thresholds(), streams=[stream + name]).tick())
    assert group.key == (stream + name, name)
    assert group.consumers[0].name == name


async def test_a_long_list_is_looked_at_a_page_a_poll(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    total = 2 * PAGE + 3
    await seed(any_wire, stream, count=total)
    observer = Observer(any_wire, Thresholds(), streams=[stream])
    seen = []
    for _ in range(5):
        scan = _only_group(await observer.tick()).scan
        assert scan is not None
        seen.append((scan.rows, scan.total, scan.complete))
    assert seen == [(PAGE, total, False), (2 * PAGE, total, False), *[(total, total, True)] * 3]


async def test_new_streams_are_found_and_vanished_ones_are_named(own_wire: Wire, seed: Seed) -> None:
    await seed(own_wire, b"a", b"billing", count=1)
    await own_wire.call("SET", b"text", b"no stream")
    observer = Observer(own_wire, Thresholds())
    assert [s.key for s in (await observer.tick()).streams] == [b"a"]
    await seed(own_wire, b"b", b"mailer", count=1)
    await seed(own_wire, b"a", b"search")
    second = await observer.tick()
    assert [(s.key, [g.name for g in s.groups]) for s in second.streams] == [
        (b"a", [b"billing", b"search"]),
        (b"b", [b"mailer"]),
    ]
    assert second.vanished == ()
    await own_wire.call("XGROUP", "DESTROY", b"a", b"search")
    await own_wire.call("DEL", b"b")
    await own_wire.call("SET", b"b", b"something else")
    third = await observer.tick()
    assert [(s.key, [g.name for g in s.groups]) for s in third.streams] == [(b"a", [b"billing"])]
    assert {(v.stream, v.group) for v in third.vanished} == {(b"a", b"search"), (b"b", b"mailer"), (b"b", None)}
    await seed(own_wire, b"a", b"search")
    assert {(v.stream, v.group) for v in (await observer.tick()).vanished} == {(b"b", b"mailer"), (b"b", None)}


async def test_the_search_goes_through_many_keys_at_the_first_poll(own_wire: Wire) -> None:
    await own_wire.pipeline([("SET", b"k%d" % n, "x") for n in range(5_000)])
    await own_wire.pipeline([("XADD", b"s%d" % n, "*", "a", "b") for n in range(30)])
    snapshot = await Observer(own_wire, Thresholds()).tick()
    assert snapshot.complete
    assert len(snapshot.streams) == 30
    narrowed = await Observer(own_wire, Thresholds(), match=b"s1*").tick()
    assert {s.key for s in narrowed.streams} == {b"s1", *(b"s1%d" % n for n in range(10))}


async def test_a_stream_that_was_asked_for_and_is_not_there_is_a_problem(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("SET", stream + b":text", "x")
    observer = Observer(any_wire, Thresholds(), streams=[stream, stream + b":text"])
    snapshot = await observer.tick()
    assert snapshot.streams == ()
    name = stream.decode()
    assert snapshot.problems == (
        f"no stream '{name}' on {any_wire.address}",
        f"'{name}:text' holds something that is no stream on {any_wire.address}",
    )
    await any_wire.call("XADD", stream, "*", "a", "b")
    assert [s.key for s in (await observer.tick()).streams] == [stream]


async def _dead_letter(wire: Wire, parent: bytes, key: bytes | None = None) -> None:
    block = Provenance(parent, b"g", EntryId(1, 0), b"c", 5, 10, b"why", b"me", 99).pairs()
    flat = [part for pair in ((b"n", b"1"), *block) for part in pair]
    await wire.call("XADD", key or dead_letter_key(parent), "*", *flat)


@pytest.mark.parametrize("parent", [b"orders", b"emq:{orders}:stream:events"])
async def test_dead_letters_are_under_their_parent(own_wire: Wire, parent: bytes) -> None:
    await own_wire.call("XADD", parent, "*", "a", "b")
    await _dead_letter(own_wire, parent)
    for observer in (
        Observer(own_wire, Thresholds()),
        Observer(own_wire, Thresholds(), streams=[parent]),
        Observer(own_wire, Thresholds(), match=parent),
    ):
        (seen,) = (await observer.tick()).streams
        assert (seen.key, seen.dead_letters, seen.dead_letter_key) == (parent, 1, dead_letter_key(parent))
    await _dead_letter(own_wire, parent)
    assert (await observer.tick()).streams[0].dead_letters == 2
    await own_wire.call("XTRIM", dead_letter_key(parent), "MAXLEN", 0)
    (emptied,) = (await observer.tick()).streams
    assert emptied.dead_letters == 0


async def test_what_only_looks_like_dead_letters_stays_a_stream(own_wire: Wire) -> None:
    await own_wire.call("XADD", b"orders", "*", "a", "b")
    await own_wire.call("XADD", b"{orders}:dead", "*", "no", "provenance")
    await _dead_letter(own_wire, b"unknown")
    await own_wire.call("XADD", b"clicks", "*", "a", "b")
    await _dead_letter(own_wire, b"clicks")
    await own_wire.call("XGROUP", "CREATE", b"{clicks}:dead", "redriver", "0")
    snapshot = await Observer(own_wire, Thresholds()).tick()
    keys = [b"clicks", b"orders", b"{clicks}:dead", b"{orders}:dead", b"{unknown}:dead"]
    assert [s.key for s in snapshot.streams] == keys
    assert [s.dead_letters for s in snapshot.streams] == [1, 0, 0, 0, 0]


async def test_trimmed_and_deleted_entries_are_ghosts(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    ids = await seed(any_wire, stream, count=120)
    observer = Observer(any_wire, Thresholds(), streams=[stream])
    await any_wire.call("XTRIM", stream, "MAXLEN", 110)
    await any_wire.call("XDEL", stream, bytes(ids[40]), bytes(ids[100]))
    for count in (11, 12, 12, 12):  # fifty are asked for at a poll
        scan = _only_group(await observer.tick()).scan
        assert scan is not None
        assert scan.ghost_count == count
    assert scan is not None
    assert scan.ghosts == (*ids[:10], ids[40], ids[100])
    assert scan.held[b"c"].ghosts == 12
    await any_wire.call("XTRIM", stream, "MAXLEN", 0)
    scan = _only_group(await observer.tick()).scan
    assert scan is not None
    assert (scan.ghost_count, len(scan.ghosts)) == (120, 100)


async def test_suspects_are_asked_for_once_while_nothing_more_is_deleted(own_wire: Wire, seed: Seed) -> None:
    ids = await seed(own_wire, b"s", count=30)
    await own_wire.call("XDEL", b"s", bytes(ids[29]))
    observer = Observer(own_wire, Thresholds())
    for _ in range(5):
        await observer.tick()
    assert await _calls(own_wire, "xrange") == 30
    await own_wire.call("XDEL", b"s", bytes(ids[28]))
    await observer.tick()
    assert await _calls(own_wire, "xrange") == 30  # nothing above the greatest deleted id changed
    scan = _only_group(await observer.tick()).scan
    assert scan is not None
    assert scan.ghost_count >= 1


async def _calls(wire: Wire, command: str) -> int:
    said = (await wire.call("INFO", "commandstats")).decode()
    lines = [line for line in said.splitlines() if line.startswith(f"cmdstat_{command}:")]
    return int(lines[0].partition("calls=")[2].partition(",")[0]) if lines else 0


async def test_a_stream_made_again_under_its_name_starts_afresh(own_wire: Wire, seed: Seed) -> None:
    await own_wire.pipeline([("XADD", b"s", f"{n}-0", "a", "b") for n in range(1, 11)])
    await seed(own_wire, b"s")
    await own_wire.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    await own_wire.call("XDEL", b"s", "5-0")
    observer = Observer(own_wire, Thresholds())
    scan = _only_group(await observer.tick()).scan
    assert scan is not None
    assert scan.ghosts == (EntryId(5, 0),)
    await own_wire.call("DEL", b"s")
    await own_wire.pipeline([("XADD", b"s", f"{n}-0", "a", "b") for n in range(1, 9)])
    await seed(own_wire, b"s")
    await own_wire.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    scan = _only_group(await observer.tick()).scan
    assert scan is not None
    assert (scan.rows, scan.ghosts) == (8, ())


async def test_a_consumer_that_stops_is_found(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    """A claim would make it look alive, so the test waits, with a small T, by polling."""
    thresholds = Thresholds(job_ms=50, stalled_ms=10**9)
    await seed(any_wire, stream, count=4, consumer=b"web-3")
    observer = Observer(any_wire, thresholds, streams=[stream])
    while not (findings := diagnose(snapshot := await observer.tick(), (), thresholds)):
        idle = _only_group(snapshot).consumers[0].idle_ms
        assert idle < 1_000, "it was never found"
    (finding,) = findings
    says_last_try = _only_group(snapshot).consumers[0].idle_is_last_try
    assert finding.rule == ("gone" if says_last_try else "silent")
    assert (finding.consumer, finding.evidence["pending"]) == (b"web-3", 4)


async def test_a_consumer_that_reads_and_leaves_old_entries_is_found(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    await seed(any_wire, stream, count=4, consumer=b"web-1", idle=2 * T)
    snapshot = await Observer(any_wire, Thresholds(), streams=[stream]).tick()
    (finding,) = diagnose(snapshot, (), Thresholds())
    assert (finding.rule, finding.evidence["overdue"]) == ("undrained", 4)
