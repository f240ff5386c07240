"""A plan is a dry run: the server says that nothing but reading was done, and nothing looks different after it."""

from __future__ import annotations

import pytest

from .conftest import Desk

LOOKING = {"type", "xinfo|groups", "xinfo|consumers", "xpending"}


@pytest.mark.parametrize("action", ["drain", "autoclaim", "dead-letter"])
async def test_it_only_looks(own_desk: Desk, action: str) -> None:
    ids = await own_desk.held(b"web-1", 30)
    await own_desk.held(b"web-1", 5, idle_ms=1_000, deliveries=3, new=False)
    rows, used = await own_desk.pending(), await own_desk.commands_used()
    plan = await own_desk.plan(action, b"web-1", ids[:3])
    after = await own_desk.commands_used()
    assert plan.count > 0
    counted = {name: after[name] - used.get(name, 0) for name in after if after[name] != used.get(name, 0)}
    assert set(counted) <= LOOKING
    assert sum(counted.values()) < 12
    later = await own_desk.pending()
    assert [(row.id, row.consumer, row.delivery_count) for row in later] == [
        (row.id, row.consumer, row.delivery_count) for row in rows
    ]
    assert all(late.idle_ms >= early.idle_ms for early, late in zip(rows, later, strict=True))
    assert own_desk.audit_lines() == []


@pytest.mark.parametrize("action", ["drain", "autoclaim", "dead-letter"])
async def test_a_connection_that_only_looks_is_enough(desk: Desk, action: str) -> None:
    ids = await desk.held(b"web-1", 3)
    desk.wire.read_only = True
    assert (await desk.plan(action, b"web-1", ids)).count == 3
