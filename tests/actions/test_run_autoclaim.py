"""An autoclaim, run: once around the whole list, to the console's own name, and processed here."""

from __future__ import annotations

import asyncio
import re

from echomq_console.actions.running import run_here
from echomq_console.actions.session import Session, login_at_host
from echomq_console.engine.events import Claimed, Event

from .conftest import OLD_MS, Desk, Service


async def test_follows_the_cursor_to_the_end_of_the_list(any_desk: Desk, service: Service) -> None:
    """Young rows fill the first looks of the server: what is old behind them is found all the same."""
    first = await any_desk.held(b"web-1", 4)
    await any_desk.held(b"web-2", 130, idle_ms=1_000, new=False)
    last = await any_desk.held(b"web-3", 4, new=False)
    plan = await any_desk.plan("autoclaim", handler=service.handler(), batch=3)
    heard: list[Event] = []
    outcome = await run_here(any_desk.session, plan, on_event=heard.append)
    assert outcome.ids == (*first, *last)
    assert (outcome.done, outcome.failed, outcome.error) == (8, 0, None)
    claims = [event for event in heard if isinstance(event, Claimed)]
    assert len(claims) >= 3
    assert all(len(claim.ids) <= 3 for claim in claims)
    assert len(await any_desk.rows()) == 130
    assert set((await any_desk.rows()).values()) == {(b"web-2", 1)}


async def test_what_the_handler_refuses_stays_in_the_consoles_list(any_desk: Desk, service: Service) -> None:
    service.write("async def handle(entry):\n    heard(entry)\n    return Error('card declined')\n")
    ids = await any_desk.held(b"web-1", 5)
    plan = await any_desk.plan("autoclaim", handler=service.handler(), batch=2)
    outcome = await run_here(any_desk.session, plan)
    assert await any_desk.rows() == dict.fromkeys(ids, (b"console-ana@bastion", 2))
    assert [(each.id, each.why) for each in outcome.failures] == [(each, "card declined") for each in ids]
    assert (outcome.done, outcome.failed, outcome.dead_lettered) == (0, 5, 0)
    assert [heard[0] for heard in service.heard] == ids


async def test_only_what_is_idle_for_long_enough(any_desk: Desk, service: Service) -> None:
    old = await any_desk.held(b"web-1", 1, idle_ms=90_000)
    young = await any_desk.held(b"web-1", 1, idle_ms=20_000, deliveries=4, new=False)
    plan = await any_desk.plan("autoclaim", handler=service.handler(), min_idle_ms=60_000)
    assert (await run_here(any_desk.session, plan)).ids == tuple(old)
    assert await any_desk.rows() == {young[0]: (b"web-1", 4)}
    assert (await any_desk.pending())[0].idle_ms >= 20_000


async def test_past_the_limit_no_handler_sees_it(any_desk: Desk, service: Service) -> None:
    ids = await any_desk.held(b"web-1", 2)
    await any_desk.held(b"web-1", 3, deliveries=5, new=False)
    plan = await any_desk.plan("autoclaim", handler=service.handler(), max_attempts=5)
    outcome = await run_here(any_desk.session, plan)
    assert (outcome.done, outcome.dead_lettered) == (2, 3)
    assert [heard[0] for heard in service.heard] == ids
    assert len(await any_desk.dead()) == 3


async def test_stopped_in_the_middle(any_desk: Desk, service: Service) -> None:
    ids = await any_desk.held(b"web-1", 40)
    stop = asyncio.Event()

    def stop_at_ten(_event: Event) -> None:
        if len(service.heard) >= 10:
            stop.set()

    plan = await any_desk.plan("autoclaim", handler=service.handler(), batch=20)
    outcome = await run_here(any_desk.session, plan, on_event=stop_at_ten, stop=stop)
    done = len(service.heard)
    assert 10 <= done <= 20
    assert outcome.ids == tuple(ids[:done])
    rows = await any_desk.rows()
    assert list(rows) == ids[done:]
    assert {count for _, count in rows.values()} == {1}
    assert {rows[entry_id] for entry_id in ids[20:]} == {(b"web-1", 1)}
    assert all(row.idle_ms >= 300_000 for row in await any_desk.pending())


async def test_stopped_before_it_began_nothing_is_claimed(desk: Desk, service: Service) -> None:
    await desk.held(b"web-1", 3)
    rows = await desk.rows()
    stop = asyncio.Event()
    stop.set()
    outcome = await run_here(desk.session, await desk.plan("autoclaim", handler=service.handler()), stop=stop)
    assert (outcome.done, outcome.ids, service.heard) == (0, (), [])
    assert await desk.rows() == rows


async def test_ghosts_are_told(any_desk: Desk, service: Service) -> None:
    ids = await any_desk.held(b"web-1", 3)
    plan = await any_desk.plan("autoclaim", handler=service.handler())
    await any_desk.wire.call("XDEL", any_desk.stream, ids[1])
    outcome = await run_here(any_desk.session, plan)
    assert outcome.ids == (ids[0], ids[2])
    assert [each.id for each in outcome.skipped] == [ids[1]]
    assert await any_desk.rows() == {}


async def test_what_became_old_since_the_plan_is_written_down_before_it_is_taken(desk: Desk, service: Service) -> None:
    """A claim tells no previous owner: without the look before it nobody could ever put it back."""
    first = await desk.held(b"web-1", 2)
    plan = await desk.plan("autoclaim", handler=service.handler())
    late = await desk.held(b"web-2", 1, deliveries=2, new=False)
    outcome = await run_here(desk.session, plan)
    assert outcome.ids == (*first, *late)
    before = [row for line in desk.audit_lines() if line["event"] == "before" for row in line["rows"]]
    assert [(row[0], row[1], row[3]) for row in before] == [
        (first[0], "web-1", 1),
        (first[1], "web-1", 1),
        (late[0], "web-2", 2),
    ]
    assert all(row[2] >= OLD_MS for row in before)
    events = [line["event"] for line in desk.audit_lines()]
    assert events == ["intent", "before", "before", "batch", "outcome"]


def test_the_name_is_the_logins_at_the_host(desk: Desk) -> None:
    session = Session(desk.session.address, desk.wire, desk.session.audit)
    assert session.actor == login_at_host()
    assert re.fullmatch(r"[^@\s]+@[^.@\s]+", login_at_host())
    assert session.console_name == f"console-{login_at_host()}".encode()
