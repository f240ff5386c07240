"""The other end of the child protocol, and stopping cleanly: by a signal, by the end of standard input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from echomq_console.actions.catalogue import plan_action
from echomq_console.actions.child import run_in_child
from echomq_console.actions.session import ActionRefused, Session
from echomq_console.audit.log import AuditLog
from echomq_console.model.action import Options, Plan, Progress, Target
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import Command, Ran, Started, Stuck

ON_THE_FOURTH = """
begun = []

async def handle(entry):
    begun.append(entry.id)
    if len(begun) == 4:
        {do}
        await asyncio.sleep(0.05)
    return Ok()
"""


def until_input_ends() -> str:
    return 'while any(t.name == "stop-on-eof" for t in threading.enumerate()): await asyncio.sleep(0.005)'


def untouched(stuck: Stuck, ids: list[str], begun: int) -> None:
    """What was not begun is as it was: its owner, its count, and idle for long enough to be taken by anybody."""
    rows = stuck.rows()
    assert rows == [(entry_id, b"web-1", 1) for entry_id in ids[begun:]]
    assert min(stuck.idle_ms()) >= 300_000


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_signal_lets_the_running_handler_end_and_releases_the_rest(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str], audit_path: Path, *, name: str, status: int
) -> None:
    ids = stuck.add(10)
    handler = handlers(ON_THE_FOURTH.format(do=f"os.kill(os.getpid(), signal.{name})"))
    said = spawn("drain", *stuck.names, "web-1", "--handler", handler, "--yes")
    assert said.status == status
    assert said.err == "echomq-console: stopped: 6 of 10 were not begun and are as they were\n"
    assert "4 entries processed and acknowledged" in said.out
    untouched(stuck, ids, 4)
    assert json.loads(audit_path.read_text().splitlines()[-1])["ids"] == ids[:4]


def test_a_signal_is_heard_while_a_handler_blocks_everything(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    ids = stuck.add(10)
    source = ON_THE_FOURTH.format(do="os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(0.05)")
    assert spawn("drain", *stuck.names, "web-1", "--handler", handlers(source), "--yes").status == 143
    untouched(stuck, ids, 4)


def test_a_second_signal_ends_at_once(spawn: Command, stuck: Stuck, handlers: Callable[[str], str]) -> None:
    ids = stuck.add(10)
    twice = "[os.kill(os.getpid(), signal.SIGINT) for _ in range(2)]; await asyncio.sleep(3600)"
    said = spawn("drain", *stuck.names, "web-1", "--handler", handlers(ON_THE_FOURTH.format(do=twice)), "--yes")
    assert said.status == 130
    assert said.err.startswith("echomq-console: ended at once")
    assert said.err.count("\n") == 1
    rows = stuck.rows()
    assert [row[0] for row in rows] == ids[3:]
    assert [row[2] for row in rows] == [2] + [1] * 6


def test_a_second_signal_ends_also_what_blocks_everything(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(1)
    twice = "[os.kill(os.getpid(), signal.SIGTERM) for _ in range(2)]; import time; time.sleep(3600)"
    said = spawn("drain", *stuck.names, "web-1", "--handler", handlers(f"async def handle(entry): {twice}"), "--yes")
    assert said.status == 143
    assert len(stuck.rows()) == 1


def test_a_program_that_runs_is_ended_with_it(spawn: Command, stuck: Stuck, tmp_path: Path) -> None:
    stuck.add(1)
    pid_file = tmp_path / "pid"
    program = tmp_path / "handle.sh"
    program.write_text(f"#!/bin/sh\necho $$ > {pid_file}\nkill -INT $PPID\nkill -TERM $PPID\nexec sleep 600\n")
    program.chmod(0o755)
    said = spawn("drain", *stuck.names, "web-1", "--handler", f"exec:{program}", "--yes")
    assert said.status in (130, 143)
    assert "Traceback" not in said.err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def child(start: Callable[..., Started], stuck: Stuck, handler: str, *more: str, **kinds: Any) -> Started:
    protocol = ["--yes", "--confirmed", "--events", "-", "--stop-on-eof", "--min-idle", "5m", "--batch", "100"]
    return start("drain", *protocol, "--handler", handler, *more, "--", *stuck.names, "web-1", **kinds)


def test_the_events_of_a_confirmed_run(start: Callable[..., Started], stuck: Stuck, ok: str) -> None:
    ids = stuck.add(2)
    started = child(start, stuck, ok)
    assert started.process.stdout is not None
    events = [json.loads(line) for line in started.process.stdout]  # to its end, with standard input still open
    assert {event["event"] for event in events} == {"audit", "progress", "outcome"}
    assert events[0]["event"] == "audit"
    assert set(events[1]) == {"event", "done", "failed", "dead_lettered", "skipped", "total", "line"}
    outcome = events[-1]
    assert (outcome["event"], outcome["ids"], outcome["audit_id"]) == ("outcome", ids, events[0]["audit_id"])
    assert started.end() == Ran(0, "", "")


def test_the_end_of_standard_input_stops_it_cleanly(
    start: Callable[..., Started], stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    ids = stuck.add(10)
    started = child(start, stuck, handlers(ON_THE_FOURTH.format(do=until_input_ends())))
    assert started.process.stdout is not None
    while ids[3] not in (line := started.process.stdout.readline()).decode():
        assert line
    said = started.end()
    assert said.events[-1]["ids"] == ids[:4]
    assert said.status == 0
    untouched(stuck, ids, 4)


def test_it_stops_where_nobody_reads_its_events_any_more(
    start: Callable[..., Started], stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(200, idle_ms=600_000)
    reading, writing = os.pipe()
    started = child(start, stuck, handlers("async def handle(entry): return Ok()"), stdout=writing)
    os.close(writing)
    os.close(reading)
    assert started.process.wait(60) in (0, 141)
    assert len(stuck.rows()) >= 190
    assert {row[2] for row in stuck.rows()} == {1}


def test_a_handler_finds_its_standard_input_empty(
    start: Callable[..., Started], stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(1)
    source = "def handle(entry): return Error('read ' + repr(os.read(0, 10)))"
    started = child(start, stuck, handlers(source))
    assert started.process.stdin is not None
    started.process.stdin.write(b"not for you")
    started.process.stdin.flush()
    assert started.process.stdout is not None
    outcome = json.loads(started.process.stdout.readlines()[-1])
    assert outcome["failures"][0][1] == "read b''"
    assert started.end().status == 3


def test_events_for_everybody(spawn: Command, stuck: Stuck, ok: str) -> None:
    (entry_id,) = stuck.add(1)
    said = spawn("drain", *stuck.names, "web-1", "--handler", ok, "--yes", "--events", "-")
    assert said.status == 0
    kinds = [event["event"] for event in said.events]
    assert kinds[:2] == ["plan", "audit"]
    assert kinds[-1] == "outcome"
    assert {"delivered", "acknowledged", "progress"} <= set(kinds)
    assert {"event": "delivered", "id": entry_id, "entry": entry_id, "attempts": 2} in said.events


def test_a_refusal_is_one_line_and_no_event(start: Callable[..., Started], stuck: Stuck, ok: str) -> None:
    stuck.add(1, idle_ms=0)
    said = child(start, stuck, ok).end()
    assert said.out == ""
    assert "holds no entry idle for" in said.complaint()


# The parent's end of it: what the app calls.


@pytest.fixture
async def session(
    valkey: EmbeddedServer, audit_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Session]:
    monkeypatch.chdir(tmp_path)
    wire = Wire(Address.parse(valkey.url))
    yield Session(Address.parse(valkey.url), wire, AuditLog(audit_path))
    await wire.close()


async def planned(session: Session, stuck: Stuck, handler: str) -> Plan:
    target = Target(stuck.stream, stuck.group, stuck.consumer)
    return await plan_action(session, "drain", target, Options(handler=handler))


async def test_the_app_follows_a_child_to_its_outcome(session: Session, stuck: Stuck, ok: str) -> None:
    ids = stuck.add(5)
    seen: list[Progress] = []
    audited: list[str] = []
    plan = await planned(session, stuck, ok)
    outcome = await run_in_child(session, plan, on_progress=seen.append, on_audit=audited.append)
    assert (outcome.done, outcome.ids, outcome.error) == (5, tuple(ids), None)
    assert audited == [outcome.audit_id]
    assert seen[-1].done == 5
    assert stuck.rows() == []


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def handle(entry): print('[/x]\\x1b[2J'); os.write(1, b'{\"event\":\"outcome\"}\\n'); return Ok()", None),
        ("async def handle(entry): sys.exit(0)", "the handler called exit(0)"),
        ("async def handle(entry): raise ValueError('no amount')", "ValueError: no amount"),
    ],
)
async def test_the_app_is_told_what_a_handler_did(
    session: Session, stuck: Stuck, handlers: Callable[[str], str], source: str, why: str | None
) -> None:
    stuck.add(2)
    outcome = await run_in_child(session, await planned(session, stuck, handlers(source)))
    assert outcome.error is None
    assert [each.why for each in outcome.failures] == ([] if why is None else [why] * 2)
    assert outcome.done == (2 if why is None else 0)


async def test_the_app_is_told_when_a_handler_ends_its_process(
    session: Session, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(3)
    outcome = await run_in_child(
        session, await planned(session, stuck, handlers("async def handle(entry): os._exit(0)"))
    )
    assert outcome.error is not None
    assert "ended with status 0" in outcome.error
    assert outcome.audit_id
    assert len(stuck.rows()) == 3


async def test_the_app_is_told_why_a_child_did_not_begin(session: Session, stuck: Stuck) -> None:
    stuck.add(1)
    with pytest.raises(ActionRefused, match="no module 'no_such_module_here'"):
        await run_in_child(session, await planned(session, stuck, "no_such_module_here:handle"))


async def test_the_app_stops_a_child(session: Session, stuck: Stuck, handlers: Callable[[str], str]) -> None:
    ids = stuck.add(10)
    stop = asyncio.Event()

    def stop_on_the_fourth(progress: Progress) -> None:
        if ids[3] in progress.line:
            stop.set()

    plan = await planned(session, stuck, handlers(ON_THE_FOURTH.format(do=until_input_ends())))
    outcome = await run_in_child(session, plan, on_progress=stop_on_the_fourth, stop=stop)
    assert (outcome.ids, outcome.error) == (tuple(ids[:4]), None)
    untouched(stuck, ids, 4)


async def test_a_process_a_handler_left_behind_does_not_hold_the_app_up(
    session: Session, stuck: Stuck, handlers: Callable[[str], str], tmp_path: Path
) -> None:
    stuck.add(1)
    pid_file = tmp_path / "left"
    source = f"""
import subprocess
def handle(entry):
    left = subprocess.Popen(["sleep", "600"])
    open({str(pid_file)!r}, "w").write(str(left.pid))
    return Ok()
"""
    try:
        async with asyncio.timeout(30):
            outcome = await run_in_child(session, await planned(session, stuck, handlers(source)))
    finally:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
    assert outcome.done == 1
