"""The life of a consumer: the door, the drain, reading, the beat, leases, the end."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.engine.conftest import Events, Lab, Remembers, running, until, until_async

from echomq_console.engine import Consumer, DeadLetter, Entry, Error, Ok, Start, Verdict, autoclaim
from echomq_console.engine.door import ensure_group
from echomq_console.engine.events import (
    Acknowledged,
    Claimed,
    DeadLettered,
    DeadLetterFailed,
    Drained,
    Failed,
    Ghost,
    Lost,
)
from echomq_console.engine.place import Place
from echomq_console.model.keys import stream_key


def consumer(lab: Lab, handler: Any, name: str = "c1", **more: Any) -> Consumer:
    options: dict[str, Any] = {"start": Start.HEAD, "min_idle": 60.0, "beat": 0.01} | more
    return Consumer(lab.address, **lab.of(name), handler=handler, **options)


async def test_new_entries_are_handled_and_acknowledged(lab: Lab) -> None:
    handler = Remembers()
    await lab.append(5)
    async with running(consumer(lab, handler)) as task:
        await until(lambda: len(handler.entries) == 5)
        await lab.append(2000, first=5)
        await until(lambda: len(handler.entries) == 2005 or task.done())
        await until_async(lambda: _none_pending(lab))
    assert handler.seen == list(range(2005))
    assert {entry.attempts for entry in handler.entries} == {1}


async def _none_pending(lab: Lab) -> bool:
    return await lab.rows() == {}


async def test_an_idle_batch_is_acknowledged_at_once(lab: Lab) -> None:
    """The next read is parked for seconds; the acknowledgement does not wait for it."""
    handler = Remembers()
    async with running(consumer(lab, handler)):
        await until_async(lambda: lab.connections("echomq:g:c1"))
        await lab.append(1)
        await until(lambda: handler.entries)
        began = time.monotonic()
        await until_async(lambda: _none_pending(lab))
        assert time.monotonic() - began < 1.0


async def test_a_client_of_the_redis_package(any_client: Redis, lab: Lab) -> None:
    handler = Remembers()
    await lab.append(3)
    made = Consumer(any_client, **lab.of("c1"), start=Start.HEAD, handler=handler)
    async with running(made):
        await until(lambda: len(handler.entries) == 3)
    assert made.totals.acknowledged == 3


async def test_start_new_skips_what_was_there_and_keeps_the_lag_known(lab: Lab) -> None:
    await lab.append(5)
    handler = Remembers()
    async with running(consumer(lab, handler, start=Start.NEW)):
        await until_async(lambda: _has_group(lab))
        await lab.append(1, first=5)
        await until(lambda: handler.entries)
        groups = await lab.wire.call("XINFO", "GROUPS", lab.stream)
        said = dict(zip(groups[0][::2], groups[0][1::2], strict=True))
        assert said[b"lag"] == 0
    assert handler.seen == [5]


async def _has_group(lab: Lab) -> bool:
    return bool(await lab.wire.call("XINFO", "GROUPS", lab.stream))


async def test_a_group_that_exists_keeps_its_place(lab: Lab) -> None:
    await lab.append(3)
    await lab.wire.call("XGROUP", "CREATE", lab.stream, "g", "$")
    handler = Remembers()
    async with running(consumer(lab, handler)):
        await until_async(lambda: lab.connections("echomq:g:c1"))
        await lab.append(1, first=3)
        await until(lambda: handler.entries)
    assert handler.seen == [3]


async def test_from_queue_spells_the_key(lab: Lab) -> None:
    made = Consumer.from_queue(
        lab.address, queue="orders", stream="events", group="g", name="c", start=Start.NEW, handler=Remembers()
    )
    assert made.stream == stream_key("orders", "events") == b"emq:{orders}:stream:events"


@pytest.mark.parametrize(
    "wrong", [{"start": "later"}, {"concurrency": 0}, {"min_idle": 0}, {"count": 0}, {"beat": 0}, {"recreate": "x"}]
)
async def test_options_that_make_no_sense(lab: Lab, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        consumer(lab, Remembers(), **wrong)


async def test_its_own_list_first_then_what_is_new(lab: Lab) -> None:
    await lab.held("c1", 5)
    await lab.append(5, first=5)
    handler, events = Remembers([0]), Events()
    async with running(consumer(lab, handler, listener=events)):
        await until(lambda: len(handler.entries) >= 10)
    assert handler.seen == list(range(10))
    assert [entry.attempts for entry in handler.entries] == [2] * 5 + [1] * 5
    assert events.of(Drained) == [Drained(5)]


async def test_ghosts_in_its_own_list_are_retired(lab: Lab) -> None:
    ids = await lab.held("c1", 3)
    await lab.wire.call("XTRIM", lab.stream, "MAXLEN", 0)
    await lab.append(2, first=3)
    handler, events = Remembers(), Events()
    async with running(consumer(lab, handler, listener=events)):
        await until(lambda: len(handler.entries) == 2)
    assert handler.seen == [3, 4]
    assert [event.id for event in events.of(Ghost)] == ids


async def test_the_beat_recovers_a_peer(lab: Lab) -> None:
    ids = await lab.held("dead", 30, idle_ms=90_000)
    await lab.set_rows(ids[20:], "dead", idle_ms=10)
    handler, events = Remembers(), Events()
    async with running(consumer(lab, handler, count=4, listener=events)):
        await until(lambda: len(handler.entries) == 20)
        await until_async(lambda: _has_rows(lab, 10))
    assert handler.seen == list(range(20))
    assert {event.how for event in events.of(Claimed)} == {"beat"}


async def _has_rows(lab: Lab, count: int) -> bool:
    return len(await lab.rows()) == count


async def test_no_beat_without_min_idle(lab: Lab) -> None:
    ids = await lab.held("dead", 1, idle_ms=90_000)
    handler = Remembers()
    async with running(consumer(lab, handler, min_idle=None)):
        await lab.append(1, first=1)
        await until(lambda: handler.entries)
    assert handler.seen == [1]
    assert list(await lab.rows()) == ids


async def test_old_behind_thousands_of_young_is_reached_by_the_beat(lab: Lab) -> None:
    ids = await lab.held("alive", 3000)
    await lab.set_rows(ids[-1:], "alive", idle_ms=90_000)
    handler = Remembers()
    async with running(consumer(lab, handler, count=10)):
        await until(lambda: handler.entries)
    assert handler.seen == [2999]


async def test_a_failed_entry_comes_back_by_the_beat_not_sooner(lab: Lab) -> None:
    await lab.append(10)
    times: list[float] = []

    async def handler(entry: Entry) -> Verdict:
        if entry.payload[b"n"] != b"0":
            return Ok()
        times.append(time.monotonic())
        return Error("no")

    async with running(consumer(lab, handler, min_idle=0.4, beat=0.02)):
        await until(lambda: len(times) == 3)
    assert all(later - sooner >= 0.38 for sooner, later in itertools.pairwise(times))


async def test_retry_delay_stretches_that_for_peers_too(lab: Lab) -> None:
    await lab.append(1)
    times: list[float] = []

    async def handler(_: Entry) -> Verdict:
        times.append(time.monotonic())
        return Error("no")

    options: dict[str, Any] = {"min_idle": 0.2, "beat": 0.02, "retry_delay": lambda attempts: 0.6 * attempts}
    async with running(consumer(lab, handler, **options)), running(consumer(lab, handler, "c2", **options)):
        await until(lambda: len(times) == 2)
    assert times[1] - times[0] >= 0.6


async def test_a_group_at_the_end_knows_its_lag(lab: Lab) -> None:
    await lab.append(5)
    assert await ensure_group(Place(lab.wire, lab.stream, b"g", b"c1"), Start.NEW)
    await lab.append(2)
    groups = await lab.wire.call("XINFO", "GROUPS", lab.stream)
    said = dict(zip(groups[0][::2], groups[0][1::2], strict=True))
    assert said[b"lag"] == 2


async def test_dead_letters_before_the_handler_runs_again(lab: Lab) -> None:
    (entry_id,) = await lab.append(1)
    handler, events = Remembers([0]), Events()
    made = consumer(lab, handler, min_idle=0.05, beat=0.01, dead_letter=DeadLetter(3), listener=events)
    async with running(made):
        await until(lambda: events.of(DeadLettered))
    assert [entry.attempts for entry in handler.entries] == [1, 2, 3]
    (event,) = events.of(DeadLettered)
    assert (event.id, event.attempts) == (entry_id, 3)
    assert "last error: bad one" in event.reason
    assert await lab.rows() == {}
    assert len(await lab.dead()) == 1


async def test_no_retry_moves_it_at_once(lab: Lab) -> None:
    await lab.append(2)
    handler, events = Remembers([0], retry=False), Events()
    async with running(consumer(lab, handler, dead_letter=DeadLetter(5), listener=events)):
        await until(lambda: events.of(DeadLettered) and len(handler.entries) == 2)
    (letter,) = await lab.dead()
    assert letter[letter.index(b"dl:by") + 1] == b"c1"


async def test_a_dead_letter_key_of_the_wrong_type_is_loud_and_loses_nothing(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    await lab.wire.call("SET", lab.dead_key, "x")
    ids = await lab.append(2)
    handler, events = Remembers([0], retry=False), Events()
    made = consumer(lab, handler, min_idle=0.1, dead_letter=DeadLetter(5), listener=events)
    async with running(made):
        await until(lambda: len(events.of(DeadLetterFailed)) >= 2)
        assert list(await lab.rows()) == ids[:1]
        assert "WRONGTYPE" in events.of(DeadLetterFailed)[0].problem
        assert "stays pending" in caplog.text
        await lab.wire.call("DEL", lab.dead_key)
        await until(lambda: events.of(DeadLettered))
    assert handler.seen == [0, 1]  # it is tried again to be moved, not to be handled
    assert len(await lab.dead()) == 1


async def test_a_slow_handler_keeps_its_entry(lab: Lab) -> None:
    """It runs for four times min_idle; neither the own beat nor a peer gets a second copy."""
    await lab.append(1)
    gate = asyncio.Event()
    one, other = Remembers(gate=gate), Remembers()
    async with running(consumer(lab, one, min_idle=0.3)):
        await until(lambda: one.entries)
        async with running(consumer(lab, other, "c2", min_idle=0.3)):
            await asyncio.sleep(1.2)  # the length of the handler's work, which is what is tested
            (row,) = (await lab.rows()).values()
            gate.set()
            await until_async(lambda: _none_pending(lab))
    assert row == ("c1", 1)
    assert len(one.entries) == 1
    assert other.entries == []


async def test_what_waits_for_its_turn_is_renewed_too(lab: Lab) -> None:
    """Six at a time, each as long as half of min_idle: the last begin long after they were fetched."""
    await lab.append(16)
    seen: list[tuple[str, int]] = []

    async def handler(entry: Entry) -> Verdict:
        seen.append((entry.id, entry.attempts))
        await asyncio.sleep(0.15)
        return Ok()

    made = [consumer(lab, handler, name, min_idle=0.3, concurrency=2) for name in ("c1", "c2")]
    async with running(made[0]), running(made[1]):
        await until_async(lambda: _none_pending_of(lab, seen, 16))
    assert len(seen) == len({entry_id for entry_id, _ in seen}) == 16
    assert {attempts for _, attempts in seen} == {1}


async def _none_pending_of(lab: Lab, seen: list[Any], count: int) -> bool:
    return len(seen) >= count and await lab.rows() == {}


async def test_a_slow_handler_fetches_nothing_it_cannot_begin(lab: Lab) -> None:
    await lab.append(50)
    gate = asyncio.Event()
    handler = Remembers(gate=gate)
    async with running(consumer(lab, handler, concurrency=3)):
        await until(lambda: len(handler.entries) == 3)
        assert len(await lab.rows()) == 3
        gate.set()
        await until(lambda: len(handler.entries) == 50)


async def test_stolen_while_stalled_settles_nothing(lab: Lab) -> None:
    """The loop is blocked past min_idle, a peer claims: it is not taken back, and what waits is not run."""
    ids = await lab.append(12)
    began, blocked = threading.Event(), threading.Event()
    seen: list[int] = []
    events = Events()

    async def handler(entry: Entry) -> Verdict:
        seen.append(int(entry.payload[b"n"]))
        if len(seen) == 6:
            began.set()
            blocked.wait()  # the whole loop stands still, as a stalled process does
            return Error("failed after the theft", retry=False)
        return Ok()

    def life() -> None:
        asyncio.run(_stalled(lab, handler, events, ended))

    ended = threading.Event()
    thread = threading.Thread(target=life)
    thread.start()
    await asyncio.to_thread(began.wait)
    stolen = list(await lab.rows())
    await lab.set_rows(stolen, "thief", deliveries=2)
    await asyncio.sleep(0.5)  # the stall has to be longer than the leases last
    blocked.set()
    await until(lambda: ids[5] in {event.id for event in events.of(Lost)})
    ended.set()
    await asyncio.to_thread(thread.join)
    rows = await lab.rows()
    waited = [i for i in stolen if i in ids[6:]]
    assert rows[ids[5]] == ("thief", 2)
    assert all(rows[i] == ("thief", 2) for i in waited)
    assert not {ids.index(i) for i in waited} & set(seen)
    assert await lab.dead() == []


async def _stalled(lab: Lab, handler: Any, events: Events, ended: threading.Event) -> None:
    made = consumer(lab, handler, min_idle=0.4, beat=60.0, dead_letter=DeadLetter(9), listener=events)
    async with running(made):
        await until(ended.is_set)


async def test_its_own_beat_does_not_dispatch_what_is_in_hand(lab: Lab) -> None:
    """Whatever the server thinks of its age."""
    ids = await lab.append(2)
    gate, events = asyncio.Event(), Events()
    handler = Remembers(gate=gate)
    async with running(consumer(lab, handler, concurrency=3, listener=events)):
        await until(lambda: len(handler.entries) == 2)
        await lab.set_rows(ids, "c1", idle_ms=90_000)
        await until_async(lambda: _is_young(lab, ids[1]))  # the beat has claimed it once more
        await lab.append(1, first=2)
        await until(lambda: len(handler.entries) == 3)
        gate.set()
        await until_async(lambda: _none_pending(lab))
    assert handler.seen == [0, 1, 2]
    assert events.of(Claimed) == []


async def _is_young(lab: Lab, entry_id: str) -> bool:
    return await lab.idle_of(entry_id) < 60_000


async def test_lost_and_ok_still_acknowledges(lab: Lab) -> None:
    (entry_id,) = await lab.append(1)
    gate, events = asyncio.Event(), Events()
    handler = Remembers(gate=gate)
    async with running(consumer(lab, handler, min_idle=0.2, listener=events)):
        await until(lambda: handler.entries)
        await lab.set_rows([entry_id], "thief")
        await until(lambda: events.of(Lost))
        assert (await lab.rows())[entry_id] == ("thief", 1)
        gate.set()
        await until_async(lambda: _none_pending(lab))
    assert events.of(Lost) == [Lost(entry_id, running=True)]


async def test_a_timed_out_thread_keeps_its_lease_until_it_ends(lab: Lab) -> None:
    (entry_id,) = await lab.append(1)
    release, calls = threading.Event(), []

    def handler(entry: Entry) -> Verdict:
        calls.append(entry)
        if len(calls) == 1:
            release.wait()
        return Ok()

    events = Events()
    async with running(consumer(lab, handler, min_idle=0.2, timeout=0.1, listener=events)):
        await until(lambda: events.of(Failed))
        await lab.append(1, first=1)
        await until(lambda: len(calls) == 2)  # the slot is free again
        await asyncio.sleep(0.6)  # three times min_idle: without a lease the beat would have it
        assert len(calls) == 2
        assert (await lab.rows())[entry_id] == ("c1", 1)
        release.set()
        await until(lambda: len(calls) == 3)
    assert calls[2].attempts == 2


async def test_thousands_held_are_renewed_in_chunks(lab: Lab) -> None:
    gate = asyncio.Event()
    handler = Remembers(gate=gate)
    ids = await lab.held("dead", 3000, idle_ms=90_000)
    made = consumer(lab, handler, count=3000, min_idle=0.5)
    async with running(made):
        await until(lambda: handler.entries)
        await asyncio.sleep(1.0)  # twice min_idle: without renewal they look abandoned
        idle = [await lab.idle_of(i) for i in (ids[1], ids[1500], ids[2999])]
        gate.set()
        await until(lambda: len(handler.entries) == 3000)
    assert max(idle) < 500


async def test_stop_in_mid_batch_gives_back_what_did_not_begin(lab: Lab) -> None:
    ids = await lab.append(300)
    gate = asyncio.Event()
    seen: list[str] = []

    async def handler(entry: Entry) -> Verdict:
        seen.append(entry.id)
        if len(seen) == 40:
            await gate.wait()
        return Ok()

    made = consumer(lab, handler, min_idle=60.0)
    task = asyncio.create_task(made.run())
    await until(lambda: len(seen) == 40)
    before = await lab.rows()
    stop = asyncio.create_task(made.stop())
    await asyncio.sleep(0)
    gate.set()
    await stop
    await task
    after = await lab.rows()
    assert ids[39] not in after
    assert len(before) > len(after) > 0
    assert {count for _, count in after.values()} == {0}
    rescuer = Remembers()
    await autoclaim(lab.address, **lab.of("peer"), min_idle=60, handler=rescuer, count=1000)
    assert {entry.id for entry in rescuer.entries} == set(after)
    assert {entry.attempts for entry in rescuer.entries} == {1}


async def test_stop_while_the_beat_waits_gives_its_claims_back(lab: Lab) -> None:
    await lab.held("dead", 20, idle_ms=90_000, deliveries=3)
    gate = asyncio.Event()
    handler = Remembers(gate=gate)
    made = consumer(lab, handler)
    task = asyncio.create_task(made.run())
    await until(lambda: handler.entries)
    stop = asyncio.create_task(made.stop())
    await asyncio.sleep(0)
    gate.set()
    await stop
    await task
    rows = await lab.rows()
    assert len(rows) == 19
    assert {count for _, count in rows.values()} == {3}
    assert min([await lab.idle_of(i) for i in rows]) >= 60_000


async def test_stop_is_quick_though_the_read_is_parked(lab: Lab) -> None:
    made = consumer(lab, Remembers())
    task = asyncio.create_task(made.run())
    await until_async(lambda: _has_parked_reader(lab))
    began = time.monotonic()
    await made.stop()
    await task
    assert time.monotonic() - began < 0.7


async def _has_parked_reader(lab: Lab) -> bool:
    said = (await lab.wire.call("CLIENT", "LIST")).decode()
    return any(" name=echomq:g:c1 " in line and " cmd=xreadgroup" in line for line in said.splitlines())


async def test_stop_grace_bounds_a_handler_that_never_ends(lab: Lab) -> None:
    (entry_id,) = await lab.append(1)
    handler = Remembers(gate=asyncio.Event())
    made = consumer(lab, handler)
    task = asyncio.create_task(made.run())
    await until(lambda: handler.entries)
    await made.stop(grace=0.05)
    await task
    assert await lab.rows() == {entry_id: ("c1", 1)}


async def test_parked_append_stop_never_leaves_an_unknown_entry(lab: Lab) -> None:
    for _ in range(60):
        seen: list[str] = []

        async def handler(entry: Entry, seen: list[str] = seen) -> Verdict:
            seen.append(entry.id)
            return Ok()

        made = consumer(lab, handler)
        task = asyncio.create_task(made.run())
        await until_async(lambda: _has_parked_reader(lab))
        (entry_id,) = await lab.append(1)
        await made.stop()
        await task
        rows = await lab.rows()
        if entry_id in rows:
            assert entry_id not in seen
            assert rows[entry_id][1] == 0
            await lab.wire.call("XACK", lab.stream, "g", entry_id)
        assert len(await lab.rows()) == 0


async def test_stop_before_run_is_harmless(lab: Lab) -> None:
    made = consumer(lab, Remembers())
    await made.stop()
    await made.run()


async def test_two_consumers_in_one_process_share_the_work(lab: Lab) -> None:
    await lab.append(500)
    one, other = Remembers(), Remembers()
    async with running(consumer(lab, one)), running(consumer(lab, other, "c2")):
        await until(lambda: len(one.entries) + len(other.entries) == 500)
    assert sorted(one.seen + other.seen) == list(range(500))


async def test_odd_entries_do_not_disturb_their_neighbours(lab: Lab) -> None:
    odd = [b"a", b"1", b"a", b"2", b"\xff\xfe", b"", b"big", b"x" * 5_000_000]
    await lab.append(2)
    await lab.wire.call("XADD", lab.stream, "*", *odd)
    await lab.append(2, first=2)
    entries: list[Entry] = []

    async def handler(entry: Entry) -> Verdict:
        entries.append(entry)
        return Ok()

    where = lab.address.options
    client = Redis.from_url(f"redis://{where['host']}:{where['port']}", decode_responses=True)
    made = Consumer(client, **lab.of("c1"), start=Start.HEAD, handler=handler)
    async with running(made):
        await until(lambda: len(entries) == 5)
    await client.aclose()
    assert entries[2].payload == {b"a": b"2", b"\xff\xfe": b"", b"big": b"x" * 5_000_000}


async def test_acknowledged_events_name_every_entry(lab: Lab) -> None:
    ids = await lab.append(100)
    events = Events()
    handler = Remembers()
    async with running(consumer(lab, handler, listener=events)):
        await until(lambda: len(handler.entries) == 100)
    assert [i for event in events.of(Acknowledged) for i in event.ids] == ids


async def test_a_handler_may_stop_its_consumer(lab: Lab) -> None:
    await lab.append(1)

    async def handler(_: Entry) -> Verdict:
        await made.stop()
        return Ok()

    made = consumer(lab, handler)
    await asyncio.wait_for(made.run(), 10)
    assert made.totals.acknowledged == 1
    assert await lab.rows() == {}
