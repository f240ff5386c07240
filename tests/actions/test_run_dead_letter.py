"""A dead-lettering, run: exactly the entries of the plan, each only if it is still as the plan showed it."""

from __future__ import annotations

import asyncio
from collections import Counter

from echomq_console.actions.running import run_here
from echomq_console.model.action import Progress
from echomq_console.server.wire import Wire

from .conftest import Desk


async def test_exactly_these_with_every_byte(any_desk: Desk) -> None:
    await any_desk.make_group()
    pairs = ("id", b"\xff", "n", "1", "n", "2", "dl:x", "")
    added = [await any_desk.wire.call("XADD", any_desk.stream, "*", *pairs) for _ in range(3)]
    ids = [bytes(each).decode() for each in added]
    await any_desk.read(b"web-1", 3)
    await any_desk.age(ids, b"web-1", idle_ms=400_000, deliveries=6)
    plan = await any_desk.plan("dead-letter", ids=[ids[0], ids[2]], reason="no such customer")
    outcome = await run_here(any_desk.session, plan)
    assert outcome.ids == (ids[0], ids[2])
    assert (outcome.done, outcome.dead_lettered, outcome.failed, outcome.skipped) == (2, 2, 0, ())
    assert await any_desk.rows() == {ids[1]: (b"web-1", 6)}
    found = await any_desk.wire.call("XRANGE", any_desk.dead_key, "-", "+")
    assert [fields[:8] for _, fields in found] == [[b"id", b"\xff", b"n", b"1", b"n", b"2", b"dl:x", b""]] * 2
    said = (await any_desk.dead())[0]
    assert (said[b"dl:id"].decode(), said[b"dl:by"], said[b"dl:attempts"]) == (ids[0], b"ana@bastion", b"6")
    assert said[b"dl:reason"] == b"no such customer"


async def test_what_changed_since_the_plan_is_skipped_and_named(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 5)
    plan = await any_desk.plan("dead-letter", ids=ids)
    await any_desk.wire.call("XACK", any_desk.stream, "g", ids[0])
    await any_desk.age(ids[1:2], b"web-2")
    await any_desk.age(ids[2:3], b"web-1", deliveries=2)
    await any_desk.wire.call("XDEL", any_desk.stream, ids[3])
    outcome = await run_here(any_desk.session, plan)
    assert outcome.ids == (ids[4],)
    assert {each.id: each.why for each in outcome.skipped} == {
        ids[0]: "not pending any more",
        ids[1]: "changed: now web-2's, delivered 1 times",
        ids[2]: "changed: now web-1's, delivered 2 times",
        ids[3]: "deleted from the stream: there is nothing to move",
    }
    assert len(await any_desk.dead()) == 1
    rows = await any_desk.rows()
    assert (rows[ids[1]], rows[ids[2]]) == ((b"web-2", 1), (b"web-1", 2))
    assert desk_outcome(any_desk)["skipped"] == [[each.id, each.why] for each in outcome.skipped]


async def test_two_operators_move_the_same_hundred_at_once(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 100)
    wire = Wire(any_desk.session.address)
    other = any_desk.is_now(actor="bob@bastion", wire=wire)
    try:
        plans = [await each.plan("dead-letter", ids=ids, batch=7) for each in (any_desk, other)]
        both = await asyncio.gather(run_here(any_desk.session, plans[0]), run_here(other.session, plans[1]))
    finally:
        await wire.close()
    dead = await any_desk.dead()
    assert len(dead) == 100
    assert Counter(letter[b"dl:id"].decode() for letter in dead) == Counter(ids)
    assert await any_desk.rows() == {}
    for outcome, by in zip(both, (b"ana@bastion", b"bob@bastion"), strict=True):
        moved = [letter[b"dl:id"].decode() for letter in dead if letter[b"dl:by"] == by]
        assert outcome.ids == tuple(moved)
        assert outcome.done == len(moved)
        assert {each.why for each in outcome.skipped} <= {"not pending any more"}
        assert {each.id for each in outcome.skipped} == set(ids) - set(moved)


async def test_a_key_that_became_something_else_keeps_everything(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 3)
    plan = await any_desk.plan("dead-letter", ids=ids)
    await any_desk.wire.call("SET", any_desk.dead_key, "something else")
    await any_desk.wire.call("XACK", any_desk.stream, "g", ids[0])
    outcome = await run_here(any_desk.session, plan)
    assert outcome.done == 0
    assert [each.id for each in outcome.skipped] == ids[:1]
    assert outcome.error is not None
    assert "cannot write the dead letters" in outcome.error
    assert "\n" not in outcome.error
    assert await any_desk.rows() == dict.fromkeys(ids[1:], (b"web-1", 1))


async def test_a_server_out_of_memory_keeps_everything(own_desk: Desk) -> None:
    ids = await own_desk.held(b"web-1", 3)
    plan = await own_desk.plan("dead-letter", ids=ids)
    await own_desk.wire.call("CONFIG", "SET", "maxmemory", "1")
    outcome = await run_here(own_desk.session, plan)
    assert outcome.error is not None
    assert "OOM" in outcome.error
    assert "\n" not in outcome.error
    assert (outcome.done, outcome.ids) == (0, ())
    assert await own_desk.rows() == dict.fromkeys(ids, (b"web-1", 1))


async def test_stopped_between_batches(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 30)
    stop = asyncio.Event()

    def stop_at_once(_progress: Progress) -> None:
        stop.set()

    plan = await any_desk.plan("dead-letter", ids=ids, batch=10)
    outcome = await run_here(any_desk.session, plan, on_progress=stop_at_once, stop=stop)
    assert outcome.ids == tuple(ids[:10])
    assert await any_desk.rows() == dict.fromkeys(ids[10:], (b"web-1", 1))
    assert len(await any_desk.dead()) == 10


async def test_every_other_group_is_as_it_was(desk: Desk) -> None:
    ids = await desk.held(b"web-1", 2)
    other = desk.at(desk.stream, b"other")
    await other.make_group()
    await other.read(b"web-1", 2)
    await run_here(desk.session, await desk.plan("dead-letter", ids=ids))
    assert await other.rows() == dict.fromkeys(ids, (b"web-1", 1))
    assert await desk.wire.call("XLEN", desk.stream) == 2


def desk_outcome(desk: Desk) -> dict[str, object]:
    """The last line of the audit log."""
    line = desk.audit_lines()[-1]
    assert line["event"] == "outcome"
    return line
