"""A drain, run: a consumer's own old entries processed under its name, and nothing else touched."""

from __future__ import annotations

import asyncio

from echomq_console.actions.running import run_here
from echomq_console.model.action import Progress

from .conftest import OLD_MS, Desk, Service


async def test_takes_the_old_and_leaves_the_young(any_desk: Desk, service: Service) -> None:
    """The consumer lives and is running a young entry, among old ones."""
    old = await any_desk.held(b"web-1", 3)
    young = await any_desk.held(b"web-1", 1, idle_ms=60_000, deliveries=2, new=False)
    late = await any_desk.held(b"web-1", 2, new=False)
    other = await any_desk.held(b"web-2", 1, new=False)
    plan = await any_desk.plan("drain", b"web-1", handler=service.handler())
    outcome = await run_here(any_desk.session, plan)
    assert outcome.ids == (*old, *late)
    assert (outcome.done, outcome.failed, outcome.dead_lettered, outcome.error) == (5, 0, 0, None)
    assert (outcome.failures, outcome.skipped) == ((), ())
    assert await any_desk.rows() == {young[0]: (b"web-1", 2), other[0]: (b"web-2", 1)}
    row = next(row for row in await any_desk.pending() if str(row.id) == young[0])
    assert 60_000 <= row.idle_ms < OLD_MS
    assert service.heard == [
        (entry_id, 2, number) for entry_id, number in zip((*old, *late), (0, 1, 2, 0, 1), strict=True)
    ]


async def test_what_the_handler_refuses_stays_its_own(any_desk: Desk, service: Service) -> None:
    service.write(
        "def handle(entry):\n"
        "    if entry.payload[b'n'] == b'1':\n"
        "        raise ValueError('no such customer')\n"
        "    if entry.payload[b'n'] == b'2':\n"
        "        return Error('card declined')\n"
        "    return Ok()\n"
    )
    ids = await any_desk.held(b"web-1", 4)
    outcome = await run_here(any_desk.session, await any_desk.plan("drain", b"web-1", handler=service.handler()))
    assert outcome.ids == (ids[0], ids[3])
    assert (outcome.done, outcome.failed, outcome.error) == (2, 2, None)
    assert [(each.id, each.why) for each in outcome.failures] == [
        (ids[1], "ValueError: no such customer"),
        (ids[2], "card declined"),
    ]
    assert await any_desk.rows() == {ids[1]: (b"web-1", 2), ids[2]: (b"web-1", 2)}
    assert await any_desk.dead() == []


async def test_past_the_limit_no_handler_sees_it(any_desk: Desk, service: Service) -> None:
    ids = await any_desk.held(b"web-1", 1)
    poison = await any_desk.held(b"web-1", 1, deliveries=3, new=False)
    plan = await any_desk.plan("drain", b"web-1", handler=service.handler(), max_attempts=3)
    outcome = await run_here(any_desk.session, plan)
    assert (outcome.done, outcome.dead_lettered, outcome.failed) == (1, 1, 0)
    assert [heard[0] for heard in service.heard] == ids
    letter = (await any_desk.dead())[0]
    assert (letter[b"dl:id"].decode(), letter[b"dl:attempts"], letter[b"n"]) == (poison[0], b"3", b"0")
    assert await any_desk.rows() == {}


async def test_a_handler_that_ends_the_program_has_failed(desk: Desk, service: Service) -> None:
    """In a coroutine, in a plain function, and in a plain function that gives back a coroutine."""
    service.write(
        "import sys\n"
        "async def in_loop(entry):\n    sys.exit(3)\n"
        "def in_thread(entry):\n    sys.exit(4)\n"
        "def wrapped(entry):\n    return in_loop(entry)\n"
    )
    ids = await desk.held(b"web-1", 1)
    for function, code in (("in_loop", 3), ("in_thread", 4), ("wrapped", 3)):
        await desk.age(ids, b"web-1", idle_ms=OLD_MS)
        outcome = await run_here(desk.session, await desk.plan("drain", b"web-1", handler=service.handler(function)))
        assert [each.why for each in outcome.failures] == [f"the handler called exit({code})"]
        assert await desk.rows() == {ids[0]: (b"web-1", 2)}


async def test_stopped_in_the_middle(any_desk: Desk, service: Service) -> None:
    """What runs is settled; what was not begun keeps its owner, its count, and may be taken at once again."""
    ids = await any_desk.held(b"web-1", 40)
    stop = asyncio.Event()

    def stop_at_ten(progress: Progress) -> None:
        if len(service.heard) >= 10:
            stop.set()

    plan = await any_desk.plan("drain", b"web-1", handler=service.handler())
    outcome = await run_here(any_desk.session, plan, on_progress=stop_at_ten, stop=stop)
    done = len(service.heard)
    assert 10 <= done < 40
    assert outcome.ids == tuple(ids[:done])
    assert outcome.error is None
    assert await any_desk.rows() == dict.fromkeys(ids[done:], (b"web-1", 1))
    assert all(row.idle_ms >= 300_000 for row in await any_desk.pending())
    again = await any_desk.plan("drain", b"web-1", handler=service.handler())
    assert again.count == 40 - done


async def test_progress_counts_up_to_the_plan(desk: Desk, service: Service) -> None:
    await desk.held(b"web-1", 5)
    told: list[Progress] = []
    await run_here(desk.session, await desk.plan("drain", b"web-1", handler=service.handler()), on_progress=told.append)
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert (told[-1].done, told[-1].total) == (5, 5)
    assert any("delivered, attempt 2" in progress.line for progress in told)


async def test_what_changed_since_the_plan_is_told(any_desk: Desk, service: Service) -> None:
    """One was acknowledged, one taken by another, one deleted: none of them reaches the handler."""
    ids = await any_desk.held(b"web-1", 4)
    plan = await any_desk.plan("drain", b"web-1", handler=service.handler())
    await any_desk.wire.call("XACK", any_desk.stream, "g", ids[0])
    await any_desk.age(ids[1:2], b"web-2", idle_ms=OLD_MS)
    await any_desk.wire.call("XDEL", any_desk.stream, ids[2])
    outcome = await run_here(any_desk.session, plan)
    assert outcome.ids == (ids[3],)
    assert [(each.id, each.why) for each in outcome.skipped] == [
        (ids[2], "deleted from the stream: its row is taken off the list")
    ]
    assert await any_desk.rows() == {ids[1]: (b"web-2", 1)}


async def test_what_became_old_since_the_plan_is_written_down_before_it_is_taken(desk: Desk, service: Service) -> None:
    first = await desk.held(b"web-1", 1)
    plan = await desk.plan("drain", b"web-1", handler=service.handler())
    late = await desk.held(b"web-1", 1, deliveries=2, new=False)
    assert (await run_here(desk.session, plan)).ids == (*first, *late)
    events = [line["event"] for line in desk.audit_lines()]
    assert events == ["intent", "before", "before", "batch", "outcome"]
    (row,) = desk.audit_lines()[2]["rows"]
    assert (row[0], row[1], row[3]) == (late[0], "web-1", 2)
    assert row[2] >= OLD_MS


async def test_a_group_that_vanished_is_one_line(desk: Desk, service: Service) -> None:
    await desk.held(b"web-1", 2)
    plan = await desk.plan("drain", b"web-1", handler=service.handler())
    await desk.wire.call("XGROUP", "DESTROY", desk.stream, "g")
    outcome = await run_here(desk.session, plan)
    assert outcome.error is not None
    assert "\n" not in outcome.error
    assert (outcome.done, service.heard) == (0, [])
    assert desk.audit_lines()[-1]["error"] == outcome.error
