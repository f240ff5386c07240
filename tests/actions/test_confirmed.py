"""Between a plan and its run time passes: what grew old meanwhile was confirmed by nobody."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from echomq_console.actions.confirmed import SLACK_MS, confirmed_idle_ms
from echomq_console.actions.running import run_here

from .conftest import Desk, Service

HOUR_MS = 3_600_000


@pytest.mark.parametrize("action", ["drain", "autoclaim"])
async def test_only_what_was_in_the_plan_is_run(desk: Desk, service: Service, action: str) -> None:
    job_ms = desk.session.thresholds.job_ms
    old = await desk.held(b"web-1", 2)
    fresh = await desk.held(b"web-1", 3, idle_ms=0, new=False)
    plan = await desk.plan(action, b"web-1" if action == "drain" else None, handler=service.handler())
    assert plan.count == 2
    # An hour goes by between the dialog and its Run; in it the fresh ones reach T as well.
    await desk.age(old, b"web-1", idle_ms=job_ms + HOUR_MS)
    await desk.age(fresh, b"web-1", idle_ms=job_ms + HOUR_MS // 2)
    outcome = await run_here(desk.session, replace(plan, looked_at=time.monotonic() - HOUR_MS / 1000))
    assert set(outcome.ids) == set(old)
    assert set(await desk.rows()) == set(fresh)


async def test_the_threshold_grows_with_the_time_since_the_look(desk: Desk) -> None:
    await desk.held(b"web-1", 1)
    plan = await desk.plan("autoclaim")
    job_ms = desk.session.thresholds.job_ms
    assert plan.looked_at is not None
    assert confirmed_idle_ms(desk.session, replace(plan, looked_at=None)) == job_ms
    grown = confirmed_idle_ms(desk.session, replace(plan, looked_at=time.monotonic() - 60))
    assert job_ms + 60_000 - SLACK_MS <= grown < job_ms + 90_000
