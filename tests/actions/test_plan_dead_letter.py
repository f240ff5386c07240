"""The plan of a dead-lettering: exactly the entries that were named."""

from __future__ import annotations

import pytest

from echomq_console.actions.session import ActionRefused

from .conftest import Desk


async def test_exactly_what_was_named(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 4, deliveries=7)
    more = await any_desk.held(b"web-2", 2, deliveries=2, new=False)
    plan = await any_desk.plan("dead-letter", ids=[ids[0], ids[2], more[0], ids[0]])
    assert (plan.count, plan.exact, plan.refusal, plan.warnings) == (3, True, None, ())
    assert [str(row.id) for row in plan.before] == [ids[0], ids[2], more[0]]
    assert plan.owners == {b"web-1": 2, b"web-2": 1}
    assert plan.untouched == ("3 entries of this group, and every other group of the stream",)
    assert plan.effects[0] == f"3 entries of web-1 (2), web-2 (1) move to {{{any_desk.stream.decode()}}}:dead"
    assert plan.effects[1] == "and are acknowledged in g: no consumer of g gets them again."
    assert "moved by an operator" in plan.effects[2]


async def test_one_entry_is_spoken_of_as_one(desk: Desk) -> None:
    ids = await desk.held(b"web-1", 1)
    plan = await desk.plan("dead-letter", ids=ids, reason="no such customer")
    assert plan.effects[0].startswith(f"{ids[0]} of web-1 (1) moves to")
    assert plan.effects[1].startswith("and is acknowledged in g")
    assert plan.effects[2] == "Its delivery count, owner and the reason “no such customer” are kept with it."


async def test_what_is_not_pending_is_named_and_left(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 2)
    await any_desk.wire.call("XACK", any_desk.stream, "g", ids[0])
    plan = await any_desk.plan("dead-letter", ids=[*ids, "5-5"])
    assert [str(row.id) for row in plan.before] == [ids[1]]
    assert plan.warnings == (f"2 entries not pending in this group, left alone: {ids[0]}, 5-5",)
    assert plan.needs_count
    assert plan.refusal is None


async def test_nothing_of_it_is_pending(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 2)
    await any_desk.wire.call("XACK", any_desk.stream, "g", *ids)
    plan = await any_desk.plan("dead-letter", ids=ids)
    assert plan.refusal == f"not pending in this group any more: {ids[0]}, {ids[1]}"
    assert plan.count == 0


async def test_an_entry_that_may_be_running_is_warned_of(desk: Desk) -> None:
    ids = await desk.held(b"web-1", 2, idle_ms=1_000)
    plan = await desk.plan("dead-letter", ids=ids)
    assert len(plan.warnings) == 1
    assert plan.warnings[0].startswith("2 entries last delivered 1s ago to a consumer that reads")
    assert plan.needs_count


@pytest.mark.parametrize(("count", "is_typed"), [(100, False), (101, True)])
async def test_the_number_is_typed_over_a_hundred(desk: Desk, count: int, is_typed: bool) -> None:
    ids = await desk.held(b"web-1", count)
    plan = await desk.plan("dead-letter", ids=ids)
    assert (plan.count, plan.needs_count) == (count, is_typed)


async def test_a_key_of_the_wrong_type_is_refused(any_desk: Desk) -> None:
    ids = await any_desk.held(b"web-1", 1)
    await any_desk.wire.call("SET", any_desk.dead_key, "something else")
    plan = await any_desk.plan("dead-letter", ids=ids)
    assert plan.refusal == f"{any_desk.dead_key.decode()} holds a string, not a stream: nothing can be moved there"


async def test_ids_are_needed(desk: Desk) -> None:
    await desk.held(b"web-1", 1)
    with pytest.raises(ActionRefused, match="needs the ids"):
        await desk.plan("dead-letter")


async def test_more_ids_than_one_round_trip(desk: Desk) -> None:
    ids = await desk.held(b"web-1", 1_201)
    assert [str(row.id) for row in (await desk.plan("dead-letter", ids=ids)).before] == ids
