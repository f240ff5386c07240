"""The commands that change something, end to end: drain, autoclaim, dead-letter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Command, Stuck

SECOND_FAILS = """
async def handle(entry):
    return Error("card\\x1b declined") if entry.payload[b"number"] in (b"1", b"3") else Ok()
"""

PRINTS = """
import subprocess
print("printed at import")

def handle(entry):
    print("printed by the handler")
    os.write(1, b"written to the descriptor\\n")
    subprocess.run(["echo", "said by a program"])
    return Ok()
"""


def logged(audit_path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in audit_path.read_text().splitlines()]


def test_drain_processes_what_is_old_and_leaves_what_is_young(
    spawn: Command, stuck: Stuck, ok: str, audit_path: Path
) -> None:
    ids = stuck.add(3)
    (young,) = stuck.add(1, idle_ms=0)
    said = spawn("drain", *stuck.names, "web-1", "--handler", ok, "--yes")
    assert (said.status, said.err) == (0, "")
    assert "3 entries processed and acknowledged" in said.out
    assert stuck.rows() == [(young, b"web-1", 1)]
    intent, before, *_, outcome = logged(audit_path)
    assert (intent["event"], intent["action"], intent["consumer"], intent["count"]) == ("intent", "drain", "web-1", 3)
    assert [row[0] for row in before["rows"]] == ids  # type: ignore[attr-defined]
    assert (outcome["event"], outcome["ids"]) == ("outcome", ids)
    assert str(intent["audit_id"]) in said.out


def test_autoclaim_wants_the_number_where_a_living_consumer_would_lose_something(
    spawn: Command, stuck: Stuck, ok: str
) -> None:
    stuck.add(3)
    before = stuck.rows()
    for options in (["--yes"], ["--yes", "--count", "2"], ["--count", "3"]):
        said = spawn("autoclaim", *stuck.names, "--handler", ok, *options)
        assert "nothing was changed" in said.complaint()
        assert "About 3 entries" in said.out
    assert stuck.rows() == before
    said = spawn("autoclaim", *stuck.names, "--handler", ok, "--yes", "--count", "3")
    assert (said.status, said.err) == (0, "")
    assert stuck.rows() == []


def test_autoclaim_over_a_hundred_wants_the_number(spawn: Command, stuck: Stuck, ok: str) -> None:
    stuck.add(101)
    said = spawn("drain", *stuck.names, "web-1", "--handler", ok, "--yes")
    assert "--yes --count 101" in said.complaint()
    assert len(stuck.rows()) == 101


def test_dead_letter_moves_exactly_these(spawn: Command, stuck: Stuck, audit_path: Path) -> None:
    first, second, third = stuck.add(3)
    options = ["--reason", "no amount", "--yes", "--count", "2"]
    said = spawn("dead-letter", *stuck.names, first, third, *options)
    assert (said.status, said.err) == (0, "")
    assert "2 entries moved to the dead letters" in said.out
    assert [row[0] for row in stuck.rows()] == [second]
    letters = stuck.server.xrange(b"{%s}:dead" % stuck.stream)
    assert [dict(fields)[b"dl:id"].decode() for _, fields in letters] == [first, third]
    assert {fields[b"dl:reason"] for _, fields in letters} == {b"no amount"}
    assert logged(audit_path)[-1]["ids"] == [first, third]


def test_dead_letter_takes_all_that_were_delivered_so_often(spawn: Command, stuck: Stuck) -> None:
    (rare,) = stuck.add(1, deliveries=4)
    often = stuck.add(2, deliveries=5)
    said = spawn("dead-letter", *stuck.names, "deliveries>=5", "--dry-run", "--json")
    planned = json.loads(said.out)["plan"]
    assert sorted(planned["ids"]) == sorted(often)
    said = spawn("dead-letter", *stuck.names, "deliveries>=5", "--yes", "--count", "2")
    assert (said.status, said.err) == (0, "")
    assert [row[0] for row in stuck.rows()] == [rare]
    said = spawn("dead-letter", *stuck.names, "deliveries>=5", "--yes")
    assert said.status == 0
    assert "nothing pending in this group was delivered 5 times or more" in said.out


def test_an_entry_that_is_not_pending_is_trouble(command: Command, stuck: Stuck) -> None:
    stuck.add(1)
    said = command("dead-letter", *stuck.names, "1-1", "--yes")
    assert "not pending in this group any more: 1-1" in said.complaint()
    assert "not pending" in command("dead-letter", *stuck.names, "1-1", "--dry-run").complaint()


@pytest.mark.parametrize(
    "arguments",
    [["drain", "web-1"], ["autoclaim"], ["dead-letter", "ID"], ["drain", "web-1", "--json"], ["autoclaim", "--yes"]],
)
def test_a_dry_run_changes_nothing(command: Command, stuck: Stuck, audit_path: Path, arguments: list[str]) -> None:
    (entry_id,) = stuck.add(1)
    before = stuck.rows()
    name, *rest = (entry_id if word == "ID" else word for word in arguments)
    said = command(name, *stuck.names, *rest, "--dry-run")
    assert (said.status, said.err) == (0, "")
    assert entry_id in said.out
    assert stuck.rows() == before
    assert min(stuck.idle_ms()) >= 600_000
    assert not audit_path.exists()


def test_nothing_to_do_is_no_trouble(command: Command, stuck: Stuck, ok: str, audit_path: Path) -> None:
    stuck.add(1, idle_ms=0)
    for arguments in (["drain", *stuck.names, "web-1"], ["autoclaim", *stuck.names]):
        said = command(*arguments, "--handler", ok, "--yes")
        assert (said.status, said.err) == (0, "")
        assert "idle for 5m 00s" in said.out
        assert "nothing was changed" in said.out
        document = command(*arguments, "--handler", ok, "--yes", "--json").document
        assert (document["plan"]["count"], document["outcome"]) == (0, None)
    assert not audit_path.exists()


def test_below_the_job_time_only_the_operators_word_lets_it_run(spawn: Command, stuck: Stuck, ok: str) -> None:
    stuck.add(1, idle_ms=1000)
    run = ["drain", *stuck.names, "web-1", "--handler", ok, "--min-idle", "0s", "--yes", "--count", "1"]
    assert "--owner-is-stopped" in spawn(*run).complaint()
    assert len(stuck.rows()) == 1
    assert spawn(*run, "--owner-is-stopped").status == 0
    assert stuck.rows() == []


def test_plan_and_outcome_as_json(spawn: Command, stuck: Stuck, ok: str) -> None:
    ids = stuck.add(2)
    document = spawn("drain", *stuck.names, "web-1", "--handler", ok, "--yes", "--json").document
    assert set(document) == {"schema", "taken_at", "server", "plan", "outcome"}
    assert document["schema"] == "echomq-console/drain/1"
    plan, outcome = document["plan"], document["outcome"]
    assert {"action", "stream", "group", "count", "ids", "warnings", "commands"} <= set(plan)
    assert {"action", "stream", "group", "done", "skipped", "failed", "ids", "audit_id"} <= set(outcome)
    assert (plan["count"], plan["ids"], plan["consumer"]) == (2, ids, "web-1")
    assert (outcome["done"], outcome["failed"], outcome["ids"], outcome["error"]) == (2, 0, ids, None)


def test_what_the_handler_refuses_stays_pending(spawn: Command, stuck: Stuck, handlers: Callable[[str], str]) -> None:
    ids = stuck.add(4)
    said = spawn("drain", *stuck.names, "web-1", "--handler", handlers(SECOND_FAILS), "--yes")
    assert said.complaint() == "2 of 4 entries failed and stay pending: card declined"
    assert "2 entries processed and acknowledged" in said.out
    assert "\x1b" not in said.out
    assert stuck.rows() == [(ids[1], b"web-1", 2), (ids[3], b"web-1", 2)]


def test_past_the_limit_goes_to_the_dead_letters(spawn: Command, stuck: Stuck, ok: str) -> None:
    (poison,) = stuck.add(1, deliveries=7)
    (other,) = stuck.add(1)
    options = ["--max-attempts", "5", "--yes", "--count", "2", "--json"]
    outcome = spawn("drain", *stuck.names, "web-1", "--handler", ok, *options).document["outcome"]
    assert (outcome["done"], outcome["dead_lettered"], outcome["ids"]) == (1, 1, [other])
    ((_, fields),) = stuck.server.xrange(b"{%s}:dead" % stuck.stream)
    assert fields[b"dl:id"].decode() == poison


def test_what_a_handler_prints_goes_to_standard_error(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(1)
    said = spawn("drain", *stuck.names, "web-1", "--handler", handlers(PRINTS), "--yes", "--json")
    assert said.document["outcome"]["done"] == 1
    for words in ("at import", "by the handler", "to the descriptor", "by a program"):
        assert words in said.err


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("async def handle(entry): raise ValueError('no\\namount')", "ValueError: no amount"),
        ("def handle(entry): raise ValueError('no amount')", "ValueError: no amount"),
        ("async def handle(entry): sys.exit(0)", "the handler called exit(0)"),
        ("def handle(entry): sys.exit('bye')", "the handler called exit(bye)"),
        ("async def handle(entry): raise SystemExit", "the handler called exit()"),
        ("async def handle(entry): return Error('no amount', retry=False)", "no amount"),
        ("async def handle(entry): return None", "the handler returned None"),
    ],
)
def test_a_handler_that_fails_in_its_own_way(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str], source: str, reason: str
) -> None:
    stuck.add(2)
    said = spawn("drain", *stuck.names, "web-1", "--handler", handlers(source), "--yes")
    assert said.complaint().startswith(f"2 of 2 entries failed and stay pending: {reason}")
    assert [row[2] for row in stuck.rows()] == [2, 2]


def test_a_handler_that_ends_the_process_leaves_no_traceback(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str], audit_path: Path
) -> None:
    stuck.add(2)
    handler = handlers("def handle(entry): print('goodbye'); os._exit(7)")
    said = spawn("drain", *stuck.names, "web-1", "--handler", handler, "--yes", "--json")
    assert (said.status, said.out, said.err) == (7, "", "goodbye\n")
    assert len(stuck.rows()) == 2
    assert [line["event"] for line in logged(audit_path)] == ["intent", "before"]


def test_a_program_as_the_handler(spawn: Command, stuck: Stuck, tmp_path: Path) -> None:
    stuck.add(2)
    seen = tmp_path / "seen"
    program = tmp_path / "handle.sh"
    program.write_text(f'#!/bin/sh\nread line\necho "$line" >> {seen}\n')
    program.chmod(0o755)
    assert spawn("drain", *stuck.names, "web-1", "--handler", f"exec:{program}", "--yes").status == 0
    assert [json.loads(line)["payload"]["number"] for line in seen.read_text().splitlines()] == ["0", "1"]
    assert stuck.rows() == []


def test_a_server_that_takes_no_writes_is_said_in_the_end(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str]
) -> None:
    stuck.add(2)
    dead = b"{%s}:dead" % stuck.stream
    stuck.server.set(dead, "no stream")
    said = spawn("dead-letter", *stuck.names, stuck.rows()[0][0], "--yes", "--count", "1")
    assert f"{dead.decode()} holds a string, not a stream" in said.complaint()
    assert len(stuck.rows()) == 2


def test_the_log_names_each_action_with_its_entries(command: Command, spawn: Command, stuck: Stuck, ok: str) -> None:
    ids = stuck.add(2)
    spawn("drain", *stuck.names, "web-1", "--handler", ok, "--yes")
    (poison,) = stuck.add(1)
    spawn("dead-letter", *stuck.names, poison, "--yes", "--count", "1", "--reason", "no amount")
    document = command("audit", "--json").document
    assert (document["schema"], document["server"]) == ("echomq-console/audit/1", None)
    latest, first = document["audit"]
    assert [action["action"] for action in (latest, first)] == ["dead-letter", "drain"]
    assert (first["done"], first["failed"], first["consumer"], first["group"]) == (2, 0, "web-1", "g")
    assert "before" not in first
    (full,) = command("audit", first["audit_id"], "--json").document["audit"]
    assert full["ids"] == ids
    assert full["before"][0] == {**full["before"][0], "id": ids[0], "consumer": "web-1", "delivery_count": 1}
    text = command("audit", latest["audit_id"]).out
    assert "no amount" in text
    assert f"{poison}  was web-1's, delivered 1x  done" in text
    table = command("audit", "--limit", "1").out
    assert latest["audit_id"] in table
    assert first["audit_id"] not in table


def test_a_log_that_was_edited_is_read_as_far_as_it_makes_sense(command: Command, audit_path: Path) -> None:
    audit_path.parent.mkdir(parents=True)
    lines = [
        "nonsense",
        "[1]",
        '{"event":"intent"}',
        '{"audit_id":"x","event":"outcome","done":1}',
        '{"audit_id":"a","event":"intent","action":"drain","stream":3,"group":"g"}',
        '{"audit_id":"a","event":"before","rows":7}',
    ]
    audit_path.write_text("\n".join(lines))
    said = command("audit")
    assert said.status == 0
    assert "cut off" in said.out
    assert command("audit", "a").status == 0


def test_without_any_time_there_is_no_guard_so_it_is_refused(command: Command, stuck: Stuck, ok: str) -> None:
    stuck.add(1)
    said = command("autoclaim", *stuck.names, "--handler", ok, "--job-time", "0s", "--yes", "--dry-run")
    assert "more than 0" in said.complaint()


def test_a_user_who_may_not_acknowledge_leaves_no_copy(spawn: Command, stuck: Stuck) -> None:
    (entry_id,) = stuck.add(1)
    before = stuck.rows()
    stuck.server.execute_command("ACL", "SETUSER", "noack", "reset", "on", ">pw", "~*", "+@all", "-xack")
    kwargs = stuck.server.connection_pool.connection_kwargs
    url = f"redis://noack:pw@{kwargs['host']}:{kwargs['port']}"
    for _ in range(2):
        said = spawn("dead-letter", *stuck.names, entry_id, "--yes", "--url", url)
        assert (said.status, "+xack" in said.complaint()) == (3, True)
    assert stuck.rows() == before
    assert stuck.server.xlen(b"{%s}:dead" % stuck.stream) == 0


def test_a_user_who_may_not_acknowledge_runs_no_handler(
    spawn: Command, stuck: Stuck, handlers: Callable[[str], str], tmp_path: Path
) -> None:
    stuck.add(3)
    ran = tmp_path / "ran"
    handler = handlers(f"def handle(entry):\n    open({str(ran)!r}, 'a').write('x')\n    return Ok()\n")
    stuck.server.execute_command("ACL", "SETUSER", "noack", "reset", "on", ">pw", "~*", "+@all", "-xack")
    kwargs = stuck.server.connection_pool.connection_kwargs
    url = f"redis://noack:pw@{kwargs['host']}:{kwargs['port']}"
    said = spawn("drain", *stuck.names, "web-1", "--handler", handler, "--yes", "--url", url)
    assert (said.status, "+xack" in said.complaint()) == (3, True)
    assert not ran.exists()
