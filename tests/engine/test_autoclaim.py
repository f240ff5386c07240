"""The autoclaim: one step of the recovery of peers."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine.conftest import Events, Lab, Remembers, until

from echomq_console.engine import DeadLetter, autoclaim
from echomq_console.engine.events import Claimed, Delivered, Ghost
from echomq_console.server.errors import NoGroup, NoKey


async def test_the_idle_are_claimed_and_handled(lab: Lab) -> None:
    ids = await lab.held("c1", 5)
    await lab.set_rows(ids[:3], "c1", idle_ms=90_000)
    handler, events = Remembers(), Events()
    report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler, listener=events)
    assert handler.seen == [0, 1, 2]
    assert report.ids["acknowledged"] == ids[:3]
    assert report.cursor == "0-0"
    assert await lab.rows() == dict.fromkeys(ids[3:], ("c1", 1))
    assert events.of(Claimed) == [Claimed(tuple(ids[:3]), "autoclaim")]
    assert [event.attempts for event in events.of(Delivered)] == [2, 2, 2]


async def test_old_behind_young_is_reached_within_one_round(lab: Lab) -> None:
    ids = await lab.held("c1", 60, idle_ms=3_600_000)
    await lab.set_rows(ids[:20], "c1", idle_ms=10)
    handler, cursor, calls = Remembers(), "0-0", 0
    while True:
        report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler, cursor=cursor, count=1)
        cursor, calls = report.cursor, calls + 1
        if cursor == "0-0":
            break
    assert handler.seen == list(range(20, 60))
    assert calls <= 60


async def test_it_is_one_call(lab: Lab) -> None:
    await lab.held("c1", 10, idle_ms=90_000)
    handler = Remembers()
    report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler, count=4)
    assert handler.seen == [0, 1, 2, 3]
    assert report.cursor != "0-0"


async def test_ghosts_are_counted_whatever_the_generation(lab: Lab) -> None:
    ids = await lab.held("c1", 4, idle_ms=90_000)
    await lab.wire.call("XDEL", lab.stream, ids[1])
    handler, events = Remembers(), Events()
    report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler, listener=events)
    assert handler.seen == [0, 2, 3]
    assert report.ids["deleted"] == [ids[1]]
    assert events.of(Ghost) == [Ghost(ids[1])]
    assert await lab.rows() == {}


async def test_past_the_limit_no_handler_runs(lab: Lab) -> None:
    ids = await lab.held("c1", 3, idle_ms=90_000)
    await lab.set_rows(ids[:1], "c1", idle_ms=90_000, deliveries=5)
    handler = Remembers()
    report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler, dead_letter=DeadLetter(5))
    assert handler.seen == [1, 2]
    assert report.ids["dead_lettered"] == ids[:1]


async def test_a_failure_stays_with_the_rescuer(lab: Lab) -> None:
    ids = await lab.held("c1", 1, idle_ms=90_000)
    report = await autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=Remembers([0]))
    assert report.reasons == {ids[0]: "bad one"}
    assert await lab.rows() == {ids[0]: ("r", 2)}


@pytest.mark.parametrize("missing", ["stream", "group"])
async def test_an_unknown_name_is_an_error_and_makes_nothing(lab: Lab, missing: str) -> None:
    await lab.held("c1", 1)
    names = lab.of("r") | {missing: "no-such"}
    with pytest.raises(NoKey if missing == "stream" else NoGroup, match="no-such"):
        await autoclaim(lab.address, **names, min_idle=0, handler=Remembers())
    assert await lab.wire.call("EXISTS", "no-such") == 0
    assert len(await lab.wire.call("XINFO", "GROUPS", lab.stream)) == 1


async def test_a_cancelled_claim_gives_back_what_did_not_begin(lab: Lab) -> None:
    ids = await lab.held("c1", 20, idle_ms=90_000, deliveries=2)
    handler = Remembers(gate=asyncio.Event())
    task = asyncio.create_task(autoclaim(lab.address, **lab.of("r"), min_idle=60, handler=handler))
    await until(lambda: handler.entries)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await lab.rows() == dict.fromkeys(ids, ("r", 2)) | {ids[0]: ("r", 3)}
    assert min([await lab.idle_of(i) for i in ids[1:]]) >= 60_000
