"""The plan of a drain: what it would take of one consumer's list, and what it would leave."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from echomq_console.actions.session import ActionRefused
from echomq_console.actions.wording import still_reading
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import ConsumerState
from echomq_console.observe.look import NoConsumer
from echomq_console.server.errors import NoGroup, NoKey, WrongType

from .conftest import OLD_MS, T_MS, Desk


async def test_counts_sample_and_what_is_not_touched(any_desk: Desk) -> None:
    old = await any_desk.held(b"web-1", 7)
    young = await any_desk.held(b"web-1", 2, idle_ms=1_000, new=False)
    await any_desk.held(b"web-2", 3, new=False)
    plan = await any_desk.plan("drain", b"web-1")
    assert (plan.count, plan.exact, plan.refusal) == (7, True, None)
    assert plan.owners == {b"web-1": 7}
    assert [str(row.id) for row in plan.before] == old
    assert [str(row.id) for row in plan.sample] == old[:5]
    assert {row.delivery_count for row in plan.before} == {1}
    assert all(row.idle_ms >= OLD_MS for row in plan.before)
    assert plan.untouched == ("2 entries of web-1, idle for less than 5m 00s", "3 entries of other consumers")
    assert plan.effects[0] == "7 entries of web-1 are processed here, under its own name: this recovers web-1 itself."
    assert "1 → 2" in plan.effects[1]
    assert (plan.warnings, plan.needs_count) == ((), False)
    assert not set(young) & {str(row.id) for row in plan.before}


async def test_one_entry_is_spoken_of_as_one(desk: Desk) -> None:
    await desk.held(b"web-1", 1)
    plan = await desk.plan("drain", b"web-1")
    assert plan.effects[0].startswith("1 entry of web-1 is processed here")
    assert plan.effects[2].startswith("Its owner stays web-1")


async def test_more_rows_than_a_page(desk: Desk) -> None:
    ids = await desk.held(b"web-1", 2_300)
    plan = await desk.plan("drain", b"web-1")
    assert [str(row.id) for row in plan.before] == ids
    assert plan.needs_count


@pytest.mark.parametrize(("count", "is_typed"), [(100, False), (101, True)])
async def test_the_number_is_typed_over_a_hundred(desk: Desk, count: int, is_typed: bool) -> None:
    await desk.held(b"web-1", count)
    assert (await desk.plan("drain", b"web-1")).needs_count is is_typed


async def test_the_commands_say_what_it_does(desk: Desk) -> None:
    await desk.held(b"web-1", 1)
    where = f"{desk.stream.decode()} g"
    plan = await desk.plan("drain", b"web-1", batch=50)
    assert plan.commands == (
        f"XPENDING {where} IDLE {T_MS} - + 50 web-1",
        f"XCLAIM {where} web-1 0 <id>   if still its own and as idle",
        f"XACK {where} <id>   after the handler's ok",
    )


async def test_entries_delivered_often_are_warned_of(desk: Desk) -> None:
    await desk.held(b"web-1", 2)
    await desk.held(b"web-1", 2, deliveries=5, new=False)
    plan = await desk.plan("drain", b"web-1")
    assert plan.needs_count
    assert plan.warnings == (
        "2 entries were delivered 5 times or more: look at the payload first "
        "(--max-attempts N moves such entries to the dead letters instead)",
    )


async def test_what_the_limit_would_dead_letter_is_said(desk: Desk) -> None:
    """Also where it is below the number from which entries count as poison."""
    await desk.held(b"web-1", 1)
    await desk.held(b"web-1", 2, deliveries=3, new=False)
    assert (await desk.plan("drain", b"web-1", max_attempts=4)).warnings == ()
    plan = await desk.plan("drain", b"web-1", max_attempts=3)
    assert plan.warnings == ("2 entries reached 3 deliveries: moved to the dead letters, no handler sees them",)
    assert plan.needs_count


async def test_a_limit_above_the_poison_ones_leaves_the_warning(desk: Desk) -> None:
    await desk.held(b"web-1", 1, deliveries=6)
    await desk.held(b"web-1", 1, deliveries=9, new=False)
    assert (await desk.plan("drain", b"web-1", max_attempts=8)).warnings == (
        "1 entry reached 8 deliveries: moved to the dead letters, no handler sees it",
        "1 entry was delivered 5 times or more: look at the payload first",
    )


async def test_nothing_to_do_is_refused(any_desk: Desk) -> None:
    await any_desk.held(b"web-1", 2, idle_ms=1_000)
    plan = await any_desk.plan("drain", b"web-1")
    assert plan.refusal == "web-1 holds no entry idle for 5m 00s or longer"
    assert (plan.count, plan.owners, plan.sample) == (0, {}, ())


async def test_below_t_a_consumer_that_reads_is_refused(any_desk: Desk) -> None:
    await any_desk.held(b"web-1", 3, idle_ms=60_000)
    await any_desk.read(b"web-1", 1)
    plan = await any_desk.plan("drain", b"web-1", min_idle_ms=30_000)
    assert plan.count == 3
    assert plan.refusal is not None
    assert "web-1 tried to read within T (5m 00s) or may have" in plan.refusal
    assert "--owner-is-stopped" in plan.refusal


async def test_below_t_the_operators_word_allows_it_with_a_warning(any_desk: Desk) -> None:
    await any_desk.held(b"web-1", 3, idle_ms=60_000)
    plan = await any_desk.plan("drain", b"web-1", min_idle_ms=30_000, owner_is_stopped=True)
    assert plan.refusal is None
    assert plan.warnings == (
        "min-idle 30s is shorter than T, 5m 00s: an entry that is running elsewhere may run twice",
    )
    assert plan.needs_count
    assert plan.reassurances == ()
    everything = await any_desk.plan("drain", b"web-1", min_idle_ms=0, owner_is_stopped=True)
    assert (everything.count, everything.refusal) == (3, None)
    assert "IDLE" not in everything.commands[0]


async def test_below_t_a_consumer_that_was_silent_for_t_is_allowed(desk: Desk) -> None:
    """T is what the session says it is: with one of a few milliseconds the consumer has been silent for it."""
    await desk.held(b"web-1", 3)
    assert (await desk.plan("drain", b"web-1", min_idle_ms=0)).refusal is not None
    quick = desk.is_now(thresholds=Thresholds(job_ms=1))
    async with asyncio.timeout(20):
        while (plan := await quick.plan("drain", b"web-1", min_idle_ms=0)).refusal is not None:
            pass
    assert plan.count == 3


def test_a_server_that_cannot_tell_does_not_say_it_is_silent() -> None:
    """Before 7.2 a consumer's idle time says nothing of when it tried: only the operator's word counts."""
    quiet = ConsumerState(b"web-1", 1, T_MS, idle_is_last_try=False)
    assert still_reading({b"web-1": quiet}, b"web-1", T_MS) is None
    busy = ConsumerState(b"web-1", 1, T_MS - 1, idle_is_last_try=False)
    assert still_reading({b"web-1": busy}, b"web-1", T_MS) is True
    gone = ConsumerState(b"web-1", 1, T_MS)
    assert still_reading({b"web-1": gone}, b"web-1", T_MS) is False
    assert still_reading({}, b"web-1", T_MS) is False


async def test_what_is_not_there_is_named(any_desk: Desk) -> None:
    with pytest.raises(NoKey):
        await any_desk.plan("drain", b"web-1")
    await any_desk.held(b"web-1", 1)
    with pytest.raises(NoConsumer, match="has no consumer 'web-2'"):
        await any_desk.plan("drain", b"web-2")
    with pytest.raises(NoGroup):
        await any_desk.at(any_desk.stream, b"other").plan("drain", b"web-1")
    with pytest.raises(ActionRefused, match="needs the name of the consumer"):
        await any_desk.plan("drain")
    text = any_desk.stream + b":text"
    await any_desk.wire.call("SET", text, "x")
    with pytest.raises(WrongType):
        await any_desk.at(text).plan("drain", b"web-1")
    names = [row[1] for row in await any_desk.wire.call("XINFO", "CONSUMERS", any_desk.stream, "g")]
    assert names == [b"web-1"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch": 0}, "a batch holds at least 1"),
        ({"min_idle_ms": -1}, "min-idle is 0 or longer"),
        ({"max_attempts": 0}, "max-attempts is at least 1"),
    ],
)
async def test_senseless_numbers_are_refused(desk: Desk, options: dict[str, Any], said: str) -> None:
    await desk.held(b"web-1", 1)
    for action in ("drain", "autoclaim"):
        with pytest.raises(ActionRefused, match=said):
            await desk.plan(action, b"web-1", **options)


async def test_an_action_there_is_not(desk: Desk) -> None:
    with pytest.raises(ActionRefused, match=r"no action 'trim' \(there are: drain, autoclaim, dead-letter\)"):
        await desk.plan("trim")
