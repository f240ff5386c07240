"""No audit, no write: what was done is written down before, while and after; where it cannot be, nothing is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from echomq_console.actions.running import run_here
from echomq_console.actions.session import ActionRefused
from echomq_console.audit.log import AuditError, AuditLog
from echomq_console.engine import HandlerNotFound
from echomq_console.engine.events import Acknowledged, Event

from .conftest import OLD_MS, Desk, Service

ACTIONS = pytest.mark.parametrize("action", ["drain", "autoclaim", "dead-letter"])


@ACTIONS
async def test_one_id_through_intent_rows_batches_and_outcome(any_desk: Desk, service: Service, action: str) -> None:
    ids = await any_desk.held(b"web-1", 250)
    plan = await any_desk.plan(action, b"web-1", ids, handler=service.handler(), batch=100)
    told: list[str] = []
    outcome = await run_here(any_desk.session, plan, on_audit=told.append)
    lines = any_desk.audit_lines()
    assert {line["audit_id"] for line in lines} == {outcome.audit_id}
    assert told == [outcome.audit_id]
    intent, before, *batches, last = lines
    assert (intent["event"], before["event"], last["event"]) == ("intent", "before", "outcome")
    assert {line["event"] for line in batches} == {"batch"}
    assert len(batches) >= 2
    name = "dead_lettered" if action == "dead-letter" else "done"
    assert [each for line in batches for each in line[name]] == ids
    assert [[row[0], row[1], row[3]] for row in before["rows"]] == [[each, "web-1", 1] for each in ids]
    assert all(row[2] >= OLD_MS for row in before["rows"])
    assert last["ids"] == ids
    assert (last["done"], last["error"]) == (250, None)
    assert (intent["action"], intent["actor"], intent["group"], intent["count"]) == (action, "ana@bastion", "g", 250)
    assert intent["stream"] == any_desk.stream.decode()
    assert intent["server"] == any_desk.session.address.shown
    assert intent["commands"] == list(plan.commands)


async def test_failures_are_named_in_the_batch_and_in_the_outcome(desk: Desk, service: Service) -> None:
    service.write("def handle(entry):\n    return Error('card declined')\n")
    ids = await desk.held(b"web-1", 2)
    outcome = await run_here(desk.session, await desk.plan("drain", b"web-1", handler=service.handler()))
    batch, last = desk.audit_lines()[-2:]
    assert (batch["event"], batch["failed"], batch["done"]) == ("batch", ids, [])
    assert last["failures"] == [[each, "card declined"] for each in ids]
    assert outcome.failed == 2


async def test_payloads_are_never_written_down(desk: Desk, service: Service) -> None:
    await desk.make_group()
    entry_id = await desk.wire.call("XADD", desk.stream, "*", "n", "1", "card", "4111-1111")
    await desk.read(b"web-1", 1)
    await desk.age([bytes(entry_id).decode()], b"web-1", idle_ms=OLD_MS)
    await run_here(desk.session, await desk.plan("drain", b"web-1", handler=service.handler()))
    text = desk.session.audit.path.read_text()
    assert bytes(entry_id).decode() in text
    assert "4111" not in text
    assert "card" not in text


@ACTIONS
async def test_intent_and_rows_are_on_the_disk_before_anything_changes(
    desk: Desk, service: Service, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is asked at each line: until the first batch it shows what the plan showed."""
    ids = await desk.held(b"web-1", 3)
    plan = await desk.plan(action, b"web-1", ids, handler=service.handler())
    used: list[tuple[str, list[str]]] = []
    append = AuditLog.append

    def watched(self: AuditLog, line: dict[str, Any]) -> None:
        used.append((line["event"], [heard[0] for heard in service.heard]))
        append(self, line)

    monkeypatch.setattr(AuditLog, "append", watched)
    seen: list[str] = []

    def first_event(event: Event) -> None:
        seen.append(type(event).__name__)
        assert [name for name, _ in used][:2] == ["intent", "before"]

    await run_here(desk.session, plan, on_event=first_event)
    assert seen
    assert used[:2] == [("intent", []), ("before", [])]


def _folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def _below_a_file(path: Path) -> Path:
    path.write_text("a file")
    return path / "audit.jsonl"


@ACTIONS
@pytest.mark.parametrize("spoil", [_folder, _below_a_file])
async def test_a_log_that_cannot_be_written_refuses(
    any_desk: Desk, service: Service, action: str, spoil: Callable[[Path], Path], tmp_path: Path
) -> None:
    ids = await any_desk.held(b"web-1", 3)
    spoiled = any_desk.is_now(audit=AuditLog(spoil(tmp_path / "spoiled")))
    plan = await spoiled.plan(action, b"web-1", ids, handler=service.handler())
    rows = await any_desk.rows()
    with pytest.raises(AuditError, match="nothing is changed without it"):
        await run_here(spoiled.session, plan)
    assert await any_desk.rows() == rows == dict.fromkeys(ids, (b"web-1", 1))
    assert all(row.idle_ms >= OLD_MS for row in await any_desk.pending())
    assert (service.heard, await any_desk.dead()) == ([], [])


@ACTIONS
async def test_rows_that_cannot_be_written_down_refuse(
    desk: Desk, service: Service, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full after the intent."""
    ids = await desk.held(b"web-1", 3)
    plan = await desk.plan(action, b"web-1", ids, handler=service.handler())
    _fails_from(monkeypatch, 2)
    with pytest.raises(AuditError, match="disk is full"):
        await run_here(desk.session, plan)
    assert await desk.rows() == dict.fromkeys(ids, (b"web-1", 1))
    assert service.heard == []


async def test_a_log_that_breaks_in_mid_run_ends_the_run(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await desk.held(b"web-1", 500)
    plan = await desk.plan("drain", b"web-1", handler=service.handler())
    _fails_from(monkeypatch, 3)
    outcome = await run_here(desk.session, plan)
    assert outcome.error is not None
    assert "disk is full" in outcome.error
    done = len(service.heard)
    assert 100 <= done < 500
    assert outcome.ids == tuple(ids[:done])
    assert await desk.rows() == dict.fromkeys(ids[done:], (b"web-1", 1))


async def test_a_log_that_breaks_between_batches_ends_the_move(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await desk.held(b"web-1", 30)
    plan = await desk.plan("dead-letter", ids=ids, batch=10)
    _fails_from(monkeypatch, 3)
    outcome = await run_here(desk.session, plan)
    assert outcome.error is not None
    assert (outcome.done, len(await desk.dead()), len(await desk.rows())) == (10, 10, 20)


@ACTIONS
async def test_read_only_changes_nothing(desk: Desk, service: Service, action: str) -> None:
    ids = await desk.held(b"web-1", 3)
    locked = desk.is_now(read_only=True)
    plan = await locked.plan(action, b"web-1", ids, handler=service.handler())
    assert plan.count == 3
    with pytest.raises(ActionRefused, match="read-only: nothing is changed from here"):
        await run_here(locked.session, plan)
    assert await desk.rows() == dict.fromkeys(ids, (b"web-1", 1))
    assert desk.audit_lines() == []


async def test_a_refused_plan_is_not_run(desk: Desk, service: Service) -> None:
    await desk.held(b"web-1", 3, idle_ms=60_000)
    plan = await desk.plan("drain", b"web-1", min_idle_ms=0, handler=service.handler())
    with pytest.raises(ActionRefused, match="web-1 tried to read"):
        await run_here(desk.session, plan)
    assert (service.heard, desk.audit_lines()) == ([], [])


@pytest.mark.parametrize("action", ["drain", "autoclaim"])
@pytest.mark.parametrize(
    ("handler", "said"),
    [
        (None, "name a handler first"),
        ("", "name a handler first"),
        ("nothing", "not a handler: 'nothing'"),
        ("no_such_module_anywhere:handle", "no module 'no_such_module_anywhere'"),
        ("{module}:no_such_function", "has no 'no_such_function'"),
        ("{module}:number", "is no function but int"),
        ("{broken}:handle", "cannot be imported: RuntimeError: no database here"),
        ("{exits}:handle", r"called exit\(7\) while it was imported"),
        ("exec:no-such-program-anywhere", "no program 'no-such-program-anywhere'"),
        ("exec:'", "not a handler"),
    ],
)
async def test_a_handler_that_is_none(
    desk: Desk, service: Service, action: str, handler: str | None, said: str
) -> None:
    """One clear line, before anything changes and before an intent is written down."""
    service.write("number = 5\n")
    broken, exits = f"broken_{service.name}", f"exits_{service.name}"
    service.write("raise RuntimeError('no database\\nhere')\n", broken)
    service.write("import sys\nsys.exit(7)\n", exits)
    ids = await desk.held(b"web-1", 3)
    spec = None if handler is None else handler.format(module=service.name, broken=broken, exits=exits)
    plan = await desk.plan(action, b"web-1", handler=spec)
    with pytest.raises((HandlerNotFound, ActionRefused), match=said) as caught:
        await run_here(desk.session, plan)
    assert "\n" not in str(caught.value)
    assert await desk.rows() == dict.fromkeys(ids, (b"web-1", 1))
    assert desk.audit_lines() == []


async def test_two_runs_at_once_keep_their_lines_apart(desk: Desk, service: Service) -> None:
    first = await desk.held(b"web-1", 3)
    second = await desk.held(b"web-2", 3, new=False)
    plans = [await desk.plan("drain", name, handler=service.handler()) for name in (b"web-1", b"web-2")]
    events: list[Event] = []
    both = await asyncio.gather(*(run_here(desk.session, plan, on_event=events.append) for plan in plans))
    assert [outcome.ids for outcome in both] == [tuple(first), tuple(second)]
    for outcome in both:
        lines = [line for line in desk.audit_lines() if line["audit_id"] == outcome.audit_id]
        assert [line["event"] for line in lines] == ["intent", "before", "batch", "outcome"]
        assert lines[-1]["ids"] == list(outcome.ids)
    assert sum(len(event.ids) for event in events if isinstance(event, Acknowledged)) == 6


def _fails_from(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Make the disk full from the line with this number on."""
    append, written = AuditLog.append, [0]

    def failing(self: AuditLog, line: dict[str, Any]) -> None:
        written[0] += 1
        if written[0] >= first:
            raise AuditError("the disk is full")
        append(self, line)

    monkeypatch.setattr(AuditLog, "append", failing)
