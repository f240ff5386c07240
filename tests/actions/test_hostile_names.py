"""Names that try to do something: an action reaches exactly that key, and its plan does nothing to a screen."""

from __future__ import annotations

import pytest
from tests.present.corpus import HOSTILE, harm_in

from echomq_console.actions.running import run_here
from echomq_console.model.action import Plan
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.text import harmless

from .conftest import Desk, Service

NAMES = pytest.mark.parametrize("name", [name[:50_000] for name in HOSTILE.values()], ids=list(HOSTILE))


def _said(plan: Plan) -> list[str]:
    return [*plan.effects, *plan.untouched, *plan.reassurances, *plan.warnings, *plan.commands, plan.refusal or ""]


@NAMES
async def test_a_streams_key(desk: Desk, service: Service, name: bytes) -> None:
    """Beside it stands a stream whose key is what the first one is shown as."""
    hostile = desk.at(name + desk.stream if name else b"")
    decoy = desk.at(harmless(hostile.stream).encode() + b"#")
    try:
        ids = await hostile.held(b"web-1", 3)
        await decoy.held(b"web-1", 3)
        before = await decoy.rows()
        drained = await hostile.plan("drain", b"web-1", handler=service.handler())
        moved = await hostile.plan("dead-letter", ids=ids[:1])
        assert not any(harm_in(text) for text in (*_said(drained), *_said(moved)))
        assert (await run_here(hostile.session, moved)).ids == (ids[0],)
        assert (await run_here(hostile.session, drained)).ids == tuple(ids[1:])
        assert await hostile.rows() == {}
        assert await decoy.rows() == before
        assert [letter[b"dl:stream"] for letter in await hostile.dead()] == [hostile.stream]
    finally:
        for key in (hostile.stream, decoy.stream):
            await desk.wire.call("DEL", key, dead_letter_key(key))


@NAMES
async def test_a_group_and_a_consumer(desk: Desk, service: Service, name: bytes) -> None:
    hostile = desk.at(desk.stream, name)
    decoy = desk.at(desk.stream, harmless(name).encode() + b"#")
    await hostile.make_group()
    await decoy.make_group()
    ids = await hostile.append(4)
    for each in (hostile, decoy):
        await each.read(name, 2)
        await each.read(b"other", 2)
        await each.age(ids[:2], name, idle_ms=400_000)
        await each.age(ids[2:], b"other", idle_ms=400_000)
    before = await decoy.rows()
    drained = await hostile.plan("drain", name, handler=service.handler())
    claimed = await hostile.plan("autoclaim", handler=service.handler())
    moved = await hostile.plan("dead-letter", ids=ids[:1])
    assert not any(harm_in(text) for plan in (drained, claimed, moved) for text in _said(plan))
    assert drained.owners == {name: 2}
    assert (await run_here(hostile.session, moved)).ids == (ids[0],)
    assert (await run_here(hostile.session, drained)).ids == (ids[1],)
    assert await hostile.rows() == dict.fromkeys(ids[2:], (b"other", 1))
    assert (await run_here(hostile.session, claimed)).ids == tuple(ids[2:])
    assert await decoy.rows() == before
    letter = (await hostile.dead())[0]
    assert (letter[b"dl:group"], letter[b"dl:consumer"]) == (name, name)


@NAMES
async def test_a_reason(desk: Desk, name: bytes) -> None:
    """It is kept to the byte where it is text, and the audit log says it."""
    reason = name.decode("utf-8", "surrogateescape")
    ids = await desk.held(b"web-1", 1)
    plan = await desk.plan("dead-letter", ids=ids, reason=reason)
    assert not any(harm_in(text) for text in _said(plan))
    await run_here(desk.session, plan)
    assert [letter[b"dl:reason"] for letter in await desk.dead()] == [name]
    assert desk.audit_lines()[0]["reason"] == reason


async def test_names_are_written_down_exactly(desk: Desk) -> None:
    name = b"\x1b[2J\xff"
    hostile = desk.at(desk.stream, name)
    ids = await hostile.held(name, 1)
    await run_here(desk.session, await hostile.plan("dead-letter", ids=ids))
    intent, before, *_ = desk.audit_lines()
    assert intent["group"] == {"base64": "G1sySv8="}
    assert before["rows"][0][1] == {"base64": "G1sySv8="}
