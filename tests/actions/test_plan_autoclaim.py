"""The plan of an autoclaim: what a round over the whole list would claim to the console's own name."""

from __future__ import annotations

from echomq_console.model.finding import Thresholds

from .conftest import T_MS, Desk


async def test_counts_owners_and_what_is_not_touched(any_desk: Desk) -> None:
    await any_desk.held(b"web-1", 2)
    await any_desk.held(b"web-2", 4, new=False)
    await any_desk.held(b"web-1", 3, idle_ms=T_MS - 60_000, new=False)
    plan = await any_desk.plan("autoclaim")
    assert (plan.count, plan.exact, plan.refusal) == (6, False, None)
    assert plan.owners == {b"web-2": 4, b"web-1": 2}
    assert list(plan.owners) == [b"web-2", b"web-1"]
    assert plan.untouched == ("3 entries idle for less than 5m 00s",)
    assert plan.effects[0] == "About 6 entries idle for 5m 00s or longer move from web-2 (4), web-1 (2)"
    assert plan.effects[1].startswith("to console-ana@bastion, that is: here.")
    assert len(plan.sample) == 5
    assert "T" in plan.reassurances[0]
    assert "4m 00s" in plan.reassurances[0]


async def test_a_consumer_that_still_reads_is_warned_of(any_desk: Desk) -> None:
    """It read a moment ago, and what it holds is old: a drain of its own list fits better."""
    await any_desk.held(b"web-1", 2)
    await any_desk.read(b"web-1", 1)
    plan = await any_desk.plan("autoclaim")
    assert len(plan.warnings) == 1
    assert plan.warnings[0].startswith("web-1 still reads and would lose 2 entries")
    assert plan.needs_count


async def test_its_own_list_is_nobody_elses(desk: Desk) -> None:
    await desk.held(desk.session.console_name, 2)
    plan = await desk.plan("autoclaim")
    assert (plan.count, plan.warnings) == (2, ())


async def test_below_t_is_warned_of(desk: Desk) -> None:
    await desk.held(b"web-1", 2, idle_ms=60_000)
    plan = await desk.plan("autoclaim", min_idle_ms=30_000)
    assert plan.count == 2
    assert plan.warnings[0].startswith("min-idle 30s is shorter than T, 5m 00s")
    assert plan.needs_count
    assert plan.reassurances == ()


async def test_without_a_warning_the_number_is_typed_over_a_hundred(desk: Desk) -> None:
    """The claimed consumer is the console's own, so nobody who reads would lose anything."""
    await desk.held(desk.session.console_name, 100)
    assert not (await desk.plan("autoclaim")).needs_count
    await desk.held(desk.session.console_name, 1, new=False)
    plan = await desk.plan("autoclaim")
    assert (plan.count, plan.warnings, plan.needs_count) == (101, (), True)


async def test_nothing_to_do_is_refused(any_desk: Desk) -> None:
    await any_desk.held(b"web-1", 2, idle_ms=1_000)
    plan = await any_desk.plan("autoclaim")
    assert plan.refusal == "nothing in this group is idle for 5m 00s or longer"
    assert plan.effects == ("There is nothing to claim.",)


async def test_the_commands_say_what_it_does(desk: Desk) -> None:
    await desk.held(b"web-1", 25)
    where = f"{desk.stream.decode()} g"
    plan = await desk.plan("autoclaim", batch=10)
    claim, count, ack = plan.commands
    name = "console-ana@bastion"
    assert claim.startswith(f"XAUTOCLAIM {where} {name} {T_MS} <cursor> COUNT 10 JUSTID ")
    assert claim.endswith("(about 3 calls, to the end of the list)")
    assert count.startswith(f"XCLAIM {where} {name} 0 <id> IDLE 0 RETRYCOUNT <count + 1> JUSTID")
    assert ack.startswith(f"XACK {where} <id>")


async def test_rows_beyond_the_first_page_count(desk: Desk) -> None:
    await desk.held(b"web-1", 1_100, idle_ms=1_000)
    await desk.held(b"web-2", 900, new=False)
    plan = await desk.plan("autoclaim")
    assert plan.count == 900
    assert plan.owners == {b"web-2": 900}


async def test_the_threshold_is_the_sessions(desk: Desk) -> None:
    await desk.held(b"web-1", 2, idle_ms=10_000)
    quick = desk.is_now(thresholds=Thresholds(job_ms=5_000))
    assert (await quick.plan("autoclaim")).count == 2
