"""Acting: the plan names its target, the run reaches exactly that, the outcome is said, and the audit log has it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from echomq_console.model.keys import dead_letter_key
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.groups import GroupsScreen
from echomq_widgets.plan_dialog import PlanDialog
from echomq_widgets.progress_dialog import ProgressDialog
from echomq_widgets.table import WindowedTable

from .conftest import WAIT, OpenApp, Stage, audited, hold, pending, reading

HANDLERS = """
import os, sys, time
from echomq_console.engine import Ok

def ok(entry):
    return Ok()

def raises(entry):
    raise RuntimeError("no amount in [/x] \\x1b[2J")

def prints(entry):
    print("\\x1b[2J printed", flush=True)
    print("\\x1b[2J complained", file=sys.stderr, flush=True)
    return Ok()

def exits(entry):
    os._exit(7)

def slow(entry):
    with open(os.environ["SEEN"], "a") as seen:
        print(os.getpid(), file=seen, flush=True)
    time.sleep(1.0)
    return Ok()
"""


@pytest.fixture
def handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of handlers where the app was started; gives the file in which the slow one leaves its process id."""
    (tmp_path / "service_handlers.py").write_text(HANDLERS)
    monkeypatch.chdir(tmp_path)
    seen = tmp_path / "seen"
    monkeypatch.setenv("SEEN", str(seen))
    return seen


async def test_the_dialog_keeps_the_target_that_stood_under_the_cursor(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path
) -> None:
    ids = await hold(own_wire, b"m:first", b"g", b"c1", 2, deliveries=7)
    async with open_app(own_server.url) as stage:
        await stage.until("▸ ▲ poison")
        await stage.press("X")
        await stage.until_screen(PlanDialog)
        await stage.until("m:first › g")

        others = [b"a:second", b"b:third"]
        for other in others:
            await hold(own_wire, other, b"g", b"c2", 3, deliveries=9)
        await own_wire.call("XCLAIM", b"m:first", b"g", b"c1", 0, *map(bytes, ids), "RETRYCOUNT", 7, "JUSTID")
        groups = stage.app.screen_stack[-2]
        assert isinstance(groups, GroupsScreen)
        table = groups.query_one("#groups", WindowedTable)
        await stage.until(lambda _: len(table.view.rows) == 3)
        await stage.polls(3)
        assert table.view.rows[0].key != (b"m:first", b"g")
        assert "m:first › g" in stage.text
        await stage.press("right", "enter")
        await stage.until_screen(ProgressDialog)
        text = await stage.until("2 entries moved to the dead letters")
        assert "m:first › g" in text

        outcome = audited(audit_log)[-1]
        assert outcome["audit_id"] in text
        await stage.press("enter")
        await stage.until_screen(GroupsScreen)
    assert await pending(own_wire, b"m:first") == []
    assert await own_wire.call("XLEN", dead_letter_key(b"m:first")) == 2
    for other in others:
        assert len(await pending(own_wire, other)) == 3
    lines = audited(audit_log)
    assert [line["event"] for line in lines] == ["intent", "before", "batch", "outcome"]
    assert (lines[0]["action"], lines[0]["stream"], lines[0]["group"]) == ("dead-letter", "m:first", "g")
    assert [row[0] for row in lines[1]["rows"]] == [str(each) for each in ids]
    assert outcome["ids"] == [str(each) for each in ids]
    assert os.stat(audit_log).st_mode & 0o777 == 0o600


async def test_marked_entries_and_no_others_are_moved_and_their_marks_go(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    ids = await hold(own_wire, b"orders", b"g", b"c", 6)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter", "2")
        await stage.until(str(ids[0]))
        await stage.press("down", "space", "down", "down", "space", "home")
        await stage.until("2 marked")
        await stage.press("X")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        await stage.until("2 entries moved to the dead letters")
        await stage.press("enter")
        await stage.until(lambda text: "marked" not in text)
        left = [bytes(ids[n]) for n in (0, 2, 4, 5)]
        assert [row[0] for row in await pending(own_wire, b"orders")] == left

        await stage.press("space")
        await stage.until("1 marked")
        await stage.press("1", "enter")
        await stage.until("only c")
        assert "marked" not in stage.text  # nothing unseen is acted on in another list
        assert not stage.table("pending").marked


async def test_an_autoclaim_and_a_drain_from_the_app(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path, handlers: Path
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 5)
    await hold(own_wire, b"mails", b"mailer", b"mail-1", 3)
    async with reading(own_wire, b"mails", b"mailer", b"mail-1"), open_app(own_server.url) as stage:
        await stage.until(lambda text: text.count("▲ stuck") == 2)
        stage.app.screen.set_focus(stage.table())
        stage.table().move_cursor_to((b"orders", b"billing"))
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        assert "Handler:" in stage.text
        await stage.press(*"service_handlers:ok", "enter", "right", "enter")
        await stage.until("5 entries processed and acknowledged")
        await stage.press("enter")
        assert await pending(own_wire, b"orders", b"billing") == []

        stage.table().move_cursor_to((b"mails", b"mailer"))
        await stage.press("D")
        await stage.until_screen(PlanDialog)
        text = await stage.until("Drain mail-1")
        assert "service_handlers:ok" not in text  # one group's handler must not do another one's work
        await stage.press(*"service_handlers:ok", "enter", "right", "enter")
        await stage.until("3 entries processed and acknowledged")
        await stage.press("enter")
        await stage.until("● 2 well")

        await hold(own_wire, b"orders", b"billing", b"web-3", 1)
        stage.table().move_cursor_to((b"orders", b"billing"))
        await stage.until("▸ ▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        assert "service_handlers:ok" in stage.text  # but its own is offered again
        await stage.press("escape")
    outcomes = {line["action"]: line for line in audited(audit_log) if line["event"] == "outcome"}
    assert (outcomes["autoclaim"]["done"], outcomes["drain"]["done"]) == (5, 3)


@pytest.mark.parametrize(
    ("handler", "said"),
    [
        ("service_handlers:missing", "missing"),
        ("no_such_module:handle", "no_such_module"),
        ("nonsense", "nonsense"),
        ("exec:/nowhere/program", "/nowhere/program"),
    ],
)
async def test_an_unknown_handler_is_one_clear_line_and_nothing_is_touched(
    *,
    own_server: EmbeddedServer,
    own_wire: Wire,
    open_app: OpenApp,
    audit_log: Path,
    handlers: Path,
    handler: str,
    said: str,
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 2)
    before = await pending(own_wire, b"orders", b"billing")
    async with open_app(own_server.url, handler=handler) as stage:
        await stage.until("▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        text = await stage.until_toast("not run")
        assert said in text
        assert "\n" not in text
        assert "Traceback" not in text
        await stage.until_screen(GroupsScreen)
        assert "▲ stuck" in stage.text
    assert await pending(own_wire, b"orders", b"billing") == before
    assert not [line for line in audited(audit_log) if line["event"] == "outcome"]


async def test_a_handler_that_raises_acknowledges_nothing(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path, handlers: Path
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 2)
    async with open_app(own_server.url, handler="service_handlers:raises") as stage:
        await stage.until("▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        text = await stage.until("2 entries failed, still pending")
        assert "no amount in [/x]" in text
        assert "\x1b" not in text
        await stage.press("enter")
        await stage.until_screen(GroupsScreen)
    assert len(await pending(own_wire, b"orders", b"billing")) == 2
    assert audited(audit_log)[-1]["failed"] == 2


@pytest.mark.parametrize(("handler", "said"), [("prints", "2 entries processed"), ("exits", "ended with status 7")])
async def test_a_handler_that_prints_or_exits_leaves_the_screen_intact(
    *, own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, handlers: Path, handler: str, said: str
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 2)
    async with open_app(own_server.url, handler=f"service_handlers:{handler}") as stage:
        await stage.until("▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        text = await stage.until(said)
        assert "printed" not in text
        await stage.press("enter")
        await stage.until_screen(GroupsScreen)
        assert own_server.url in stage.lines[0]
    left = {"prints": 0, "exits": 2}
    assert len(await pending(own_wire, b"orders", b"billing")) == left[handler]


async def test_leaving_stops_the_action_cleanly(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path, handlers: Path
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 60)
    async with open_app(own_server.url, handler="service_handlers:slow") as stage:
        await stage.until("▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        await stage.until_screen(ProgressDialog)
        await stage.until(lambda _: bool(_runs(handlers)))
        await stage.press("b")
        await stage.until_screen(GroupsScreen)
        stage.send("q")
        await _until_ended(stage)
    began = _runs(handlers)
    await _gone(began[0])
    outcome = audited(audit_log)[-1]
    assert outcome["event"] == "outcome"
    assert outcome["done"] == len(began)
    assert len(await pending(own_wire, b"orders", b"billing")) == 60 - len(began)


async def test_leaving_from_an_open_dialog_runs_nothing(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"g", b"c", 2, deliveries=7)
    before = await pending(own_wire, b"orders")
    async with open_app(own_server.url) as stage:
        await stage.until("▲ poison")
        await stage.press("X")
        await stage.until_screen(PlanDialog)
        stage.send("ctrl+q")
        await _until_ended(stage)
        assert stage.app.return_code == 0
    assert await pending(own_wire, b"orders") == before


async def test_without_an_audit_log_nothing_is_changed(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("no folder")
    monkeypatch.setenv("ECHOMQ_AUDIT", str(tmp_path / "a file" / "audit.jsonl"))
    await hold(own_wire, b"orders", b"g", b"c", 2, deliveries=7)
    before = await pending(own_wire, b"orders")
    async with open_app(own_server.url) as stage:
        await stage.until("▲ poison")
        await stage.press("X")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        text = await stage.until_toast("not run")
        assert "audit log" in text
        assert "nothing is changed without it" in text
        await stage.until_screen(GroupsScreen)
    assert await pending(own_wire, b"orders") == before


async def test_one_action_at_a_time(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, handlers: Path
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 5)
    async with open_app(own_server.url, handler="service_handlers:slow") as stage:
        await stage.until("▲ stuck")
        await stage.press("A")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        await stage.until_screen(ProgressDialog)
        assert "pause" not in stage.text  # what is not there is not offered
        await stage.press("b")
        await stage.until_toast("it goes on")
        await stage.press("A")
        await stage.until_toast("an action is under way")
        said = await stage.until_toast("autoclaim: ")
        assert "processed and acknowledged" in said
        assert "audit " in said


async def _until_ended(stage: Stage) -> None:
    async with asyncio.timeout(WAIT):
        while stage.app.return_code is None:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.02)


def _runs(seen: Path) -> list[int]:
    """The process ids that the slow handler left, one for each entry it began."""
    return [int(pid) for pid in seen.read_text().split()] if seen.exists() else []


async def _gone(pid: int) -> None:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"process {pid} was left behind")
