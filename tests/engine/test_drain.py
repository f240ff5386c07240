"""The drain: one pass over one's own list, whatever the handler says."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from tests.engine.conftest import Events, Lab, Remembers, until

from echomq_console.engine import DeadLetter, Entry, NoConsumer, Ok, Verdict, drain
from echomq_console.engine.events import Acknowledged, Delivered, Failed, Ghost, Released
from echomq_console.engine.place import Place
from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.server.errors import NoGroup, NoKey, WrongType


async def test_every_entry_once_in_order(lab: Lab) -> None:
    ids = await lab.held("c1", 250)
    handler = Remembers()
    report = await drain(lab.address, **lab.of("c1"), handler=handler)
    assert handler.seen == list(range(250))
    assert {entry.attempts for entry in handler.entries} == {2}
    assert report.ids["acknowledged"] == report.ids["delivered"] == ids
    assert (report.delivered, report.acknowledged, report.failed) == (250, 250, 0)
    assert await lab.rows() == {}


async def test_a_pass_ends_though_everything_fails(lab: Lab) -> None:
    ids = await lab.held("c1", 30)
    handler = Remembers(range(30))
    report = await drain(lab.address, **lab.of("c1"), handler=handler, count=7)
    assert handler.seen == list(range(30))
    assert report.ids["failed"] == ids
    assert set(report.reasons.values()) == {"bad one"}
    assert await lab.rows() == dict.fromkeys(ids, ("c1", 2))


async def test_attempts_are_the_servers_count(lab: Lab) -> None:
    ids = await lab.held("c1", 3)
    await lab.set_rows(ids[1:2], "c1", deliveries=6)
    handler = Remembers(range(3))
    await drain(lab.address, **lab.of("c1"), handler=handler)
    assert [entry.attempts for entry in handler.entries] == [2, 7, 2]
    assert await lab.rows() == {ids[0]: ("c1", 2), ids[1]: ("c1", 7), ids[2]: ("c1", 2)}


async def test_entries_of_others_stay_theirs(lab: Lab) -> None:
    ids = await lab.held("c1", 2)
    await lab.set_rows(ids[:1], "c2")
    report = await drain(lab.address, **lab.of("c1"), handler=Remembers())
    assert report.ids["acknowledged"] == ids[1:]
    assert await lab.rows() == {ids[0]: ("c2", 1)}


async def test_ghosts_are_named_and_never_handled(lab: Lab) -> None:
    ids = await lab.held("c1", 5)
    await lab.wire.call("XDEL", lab.stream, ids[0], ids[3])
    handler, events = Remembers(), Events()
    report = await drain(lab.address, **lab.of("c1"), handler=handler, listener=events)
    assert handler.seen == [1, 2, 4]
    assert report.ids["deleted"] == [ids[0], ids[3]]
    assert [event.id for event in events.of(Ghost)] == [ids[0], ids[3]]
    assert await lab.rows() == {}


async def test_past_the_limit_no_handler_runs(lab: Lab) -> None:
    ids = await lab.held("c1", 4)
    await lab.set_rows(ids[1:3], "c1", deliveries=5)
    handler = Remembers()
    report = await drain(lab.address, **lab.of("c1"), handler=handler, dead_letter=DeadLetter(5))
    assert handler.seen == [0, 3]
    assert report.ids["dead_lettered"] == ids[1:3]
    first, second = await lab.dead()
    assert first[:2] == [b"n", b"1"]
    assert second[:2] == [b"n", b"2"]
    assert first[first.index(b"dl:attempts") + 1] == b"5"


async def test_at_the_limit_it_runs_once_more(lab: Lab) -> None:
    await lab.held("c1", 1, deliveries=4)
    handler = Remembers([0])
    await drain(lab.address, **lab.of("c1"), handler=handler, dead_letter=DeadLetter(5))
    assert [entry.attempts for entry in handler.entries] == [5]
    assert await lab.dead() == []


async def test_min_idle_leaves_what_a_living_process_runs(lab: Lab) -> None:
    ids = await lab.held("c1", 4, idle_ms=1000)
    await lab.set_rows(ids[:2], "c1", idle_ms=90_000)
    report = await drain(lab.address, **lab.of("c1"), handler=Remembers(), min_idle=60)
    assert report.ids["acknowledged"] == ids[:2]
    assert await lab.rows() == dict.fromkeys(ids[2:], ("c1", 1))
    assert await lab.idle_of(ids[2]) >= 1000


@pytest.mark.parametrize("missing", ["stream", "group", "name"])
async def test_an_unknown_name_is_an_error_and_makes_nothing(lab: Lab, missing: str) -> None:
    await lab.held("c1", 1)
    names = lab.of("c1") | {missing: "no-such"}
    kind: dict[str, type[Exception]] = {"stream": NoKey, "group": NoGroup, "name": NoConsumer}
    with pytest.raises(kind[missing], match="no-such"):
        await drain(lab.address, **names, handler=Remembers())
    assert await lab.wire.call("EXISTS", "no-such") == 0
    groups = await lab.wire.call("XINFO", "GROUPS", lab.stream)
    assert len(groups) == 1
    assert len(await lab.wire.call("XINFO", "CONSUMERS", lab.stream, "g")) == 1


async def test_a_key_that_is_no_stream(lab: Lab) -> None:
    await lab.wire.call("SET", lab.stream, "x")
    with pytest.raises(WrongType):
        await drain(lab.address, **lab.of("c1"), handler=Remembers())


async def test_limit_begins_no_more(lab: Lab) -> None:
    ids = await lab.held("c1", 20)
    report = await drain(lab.address, **lab.of("c1"), handler=Remembers(), limit=5)
    assert report.ids["acknowledged"] == ids[:5]
    assert await lab.rows() == dict.fromkeys(ids[5:], ("c1", 1))


async def test_stop_gives_back_what_did_not_begin(lab: Lab) -> None:
    ids = await lab.held("c1", 40)
    stop, events = asyncio.Event(), Events()
    seen: list[str] = []

    async def handler(entry: Entry) -> Verdict:
        seen.append(entry.id)
        if len(seen) == 5:
            stop.set()
            await asyncio.sleep(0)
        return Ok()

    report = await drain(lab.address, **lab.of("c1"), handler=handler, stop=stop, listener=events)
    assert 5 <= len(seen) < 40
    assert report.ids["acknowledged"] == seen == ids[: len(seen)]
    assert await lab.rows() == dict.fromkeys(ids[len(seen) :], ("c1", 1))
    given_back = {i for event in events.of(Released) for i in event.ids}
    assert given_back <= {*ids[len(seen) :]}


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_what_was_delivered_before_runs_alone(lab: Lab, concurrency: int) -> None:
    await lab.held("c1", 12, deliveries=2)
    at_once = most = 0

    async def handler(_: Entry) -> Verdict:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.001)
        at_once -= 1
        return Ok()

    await drain(lab.address, **lab.of("c1"), handler=handler, concurrency=concurrency)
    assert most == 1


async def test_concurrency_is_used(lab: Lab) -> None:
    await lab.held("c1", 40)
    gate = asyncio.Event()
    handler = Remembers(gate=gate)
    task = asyncio.create_task(drain(lab.address, **lab.of("c1"), handler=handler, concurrency=4))
    await until(lambda: len(handler.entries) == 4)
    gate.set()
    report = await task
    assert report.acknowledged == 40


async def test_exceptions_and_wrong_answers_are_errors(lab: Lab) -> None:
    ids = await lab.held("c1", 4)

    async def handler(entry: Entry) -> Any:
        match int(entry.payload[b"n"]):
            case 0:
                raise ValueError("a card\nwas declined")
            case 1:
                return True
            case 2:
                raise asyncio.CancelledError
            case _:
                return None

    report = await drain(lab.address, **lab.of("c1"), handler=handler)
    assert report.failed == 4
    assert report.reasons[ids[0]] == "ValueError: a card was declined"
    assert report.reasons[ids[1]] == "the handler returned True, neither Ok nor Error"
    assert report.reasons[ids[2]] == "CancelledError"
    assert "None" in report.reasons[ids[3]]
    assert len(await lab.rows()) == 4


async def test_a_plain_function_runs_in_a_thread(lab: Lab) -> None:
    import threading

    await lab.held("c1", 3)
    threads: set[threading.Thread] = set()

    def handler(entry: Entry) -> Verdict:
        threads.add(threading.current_thread())
        if entry.payload[b"n"] == b"1":
            raise StopIteration("odd")
        return Ok()

    report = await drain(lab.address, **lab.of("c1"), handler=handler)
    assert (report.acknowledged, report.failed) == (2, 1)
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("plain", [False, True])
async def test_a_timeout_is_an_error(lab: Lab, plain: bool) -> None:
    import threading

    ids = await lab.held("c1", 2)
    release = threading.Event()

    async def slow(entry: Entry) -> Verdict:
        if entry.payload[b"n"] == b"0":
            await asyncio.Event().wait()
        return Ok()

    def slow_thread(entry: Entry) -> Verdict:
        if entry.payload[b"n"] == b"0":
            release.wait()
        return Ok()

    report = await drain(lab.address, **lab.of("c1"), handler=slow_thread if plain else slow, timeout=0.1)
    release.set()
    assert report.ids["acknowledged"] == ids[1:]
    assert report.reasons[ids[0]] == "timed out after 0.1 s"


async def test_no_retry_goes_to_the_dead_letters_at_once(lab: Lab) -> None:
    await lab.held("c1", 2)
    report = await drain(lab.address, **lab.of("c1"), handler=Remembers([0], retry=False), dead_letter=DeadLetter(9))
    assert (report.dead_lettered, report.acknowledged) == (1, 1)
    (letter,) = await lab.dead()
    assert letter[letter.index(b"dl:reason") + 1] == b"bad one"
    assert letter[letter.index(b"dl:attempts") + 1] == b"2"


async def test_no_retry_without_a_policy_stays_pending(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    ids = await lab.held("c1", 1)
    report = await drain(lab.address, **lab.of("c1"), handler=Remembers([0], retry=False))
    assert report.ids["failed"] == ids
    assert "no dead-letter policy" in caplog.text
    assert await lab.dead() == []


async def test_acknowledged_elsewhere_meanwhile_is_no_error(lab: Lab) -> None:
    ids = await lab.held("c1", 1)
    events = Events()

    async def handler(_: Entry) -> Verdict:
        await lab.wire.call("XACK", lab.stream, "g", ids[0])
        return Ok()

    report = await drain(lab.address, **lab.of("c1"), handler=handler, listener=events)
    assert report.acknowledged == 1
    assert events.of(Acknowledged) == [Acknowledged((ids[0],), already=1)]


async def test_what_a_listener_hears(lab: Lab) -> None:
    ids = await lab.held("c1", 1)
    events = Events()
    await drain(lab.address, **lab.of("c1"), handler=Remembers([0]), listener=events)
    assert events == [Delivered(ids[0], ids[0], 2), Failed(ids[0], 2, "bad one")]


async def test_a_listener_that_raises_costs_nothing(lab: Lab) -> None:
    await lab.held("c1", 3)

    def broken(_: object) -> None:
        raise RuntimeError("no")

    report = await drain(lab.address, **lab.of("c1"), handler=Remembers(), listener=broken)
    assert report.acknowledged == 3


async def test_large_bodies_in_one_slice_come_a_few_at_a_time(lab: Lab) -> None:
    await lab.make_group()
    for n in range(40):
        await lab.wire.call("XADD", lab.stream, "*", "n", n, "big", b"x" * 100_000)
    await lab.read("c1", 40)
    handler = Remembers()
    report = await drain(lab.address, **lab.of("c1"), handler=handler, concurrency=40)
    assert sorted(handler.seen) == list(range(40))
    assert report.acknowledged == 40
    assert {entry.attempts for entry in handler.entries} == {2}


async def test_new_neighbours_in_the_stream_do_not_disturb_a_slice(lab: Lab) -> None:
    ids = await lab.held("c1", 40)
    await lab.wire.call("XACK", lab.stream, "g", ids[11], ids[20])
    handler = Remembers()
    await drain(lab.address, **lab.of("c1"), handler=handler, concurrency=40)
    assert sorted(handler.seen) == [n for n in range(40) if n not in (11, 20)]


async def test_ghosts_within_a_slice(lab: Lab) -> None:
    ids = await lab.held("c1", 40)
    await lab.wire.call("XDEL", lab.stream, ids[13], ids[39])
    handler = Remembers()
    report = await drain(lab.address, **lab.of("c1"), handler=handler, concurrency=40)
    assert sorted(handler.seen) == [n for n in range(39) if n != 13]
    assert report.ids["deleted"] == [ids[13], ids[39]]


@pytest.mark.parametrize("count", [1, 10])
async def test_a_row_renewed_between_the_look_and_the_take_is_left_alone(lab: Lab, count: int) -> None:
    ids = await lab.held("c1", count, idle_ms=90_000)
    place = Place(lab.wire, lab.stream, b"g", b"c1")
    rows = await place.look(ZERO, EntryId.parse(ids[-1]), 100, 60_000)
    assert len(rows) == count
    await lab.set_rows(ids[-1:], "c1")
    fates = await place.take(rows, [2] * count, least_idle_ms=60_000)
    assert [fate.word for fate in fates] == ["taken"] * (count - 1) + ["moved"]
    assert (await lab.rows())[ids[-1]] == ("c1", 1)


@pytest.mark.parametrize("count", [1, 10])
async def test_a_row_claimed_between_the_look_and_the_take_is_left_alone(lab: Lab, count: int) -> None:
    ids = await lab.held("c1", count)
    place = Place(lab.wire, lab.stream, b"g", b"c1")
    rows = await place.look(ZERO, EntryId.parse(ids[-1]), 100)
    await lab.set_rows(ids[-1:], "thief", deliveries=2)
    fates = await place.take(rows, [2] * count)
    assert [fate.word for fate in fates] == ["taken"] * (count - 1) + ["moved"]
    assert (await lab.rows())[ids[-1]] == ("thief", 2)


async def test_a_handler_that_swallows_its_cancellation_does_not_spoil_the_next(lab: Lab) -> None:
    ids = await lab.held("c1", 2)

    async def handler(entry: Entry) -> Verdict:
        if entry.id == ids[0]:
            for _ in range(3):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            return Ok()
        raise asyncio.CancelledError

    report = await drain(lab.address, **lab.of("c1"), handler=handler, timeout=0.04)
    assert report.ids["acknowledged"] == ids[:1]
    assert report.reasons == {ids[1]: "CancelledError"}


async def test_a_cancelled_drain_gives_back_what_did_not_begin(lab: Lab) -> None:
    ids = await lab.held("c1", 40)
    handler = Remembers(gate=asyncio.Event())
    task = asyncio.create_task(drain(lab.address, **lab.of("c1"), handler=handler))
    await until(lambda: handler.entries)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await lab.rows() == dict.fromkeys(ids, ("c1", 1)) | {ids[0]: ("c1", 2)}
