"""The whole road, as an operator walks it: an incident seen, understood, recovered; by keys, and by commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Terminal

POISON_DELIVERIES = "7"


def row(screen: str, group: str) -> str:
    """The line of a group on the opening screen."""
    return next((line for line in screen.splitlines() if f"› {group}" in line and "/" in line), "")


def left_pane(screen: str) -> str:
    """What stands on the left, its wrapped lines put together again."""
    return "".join(line.partition("│")[0].strip() for line in screen.splitlines())


def audited(path: Path) -> list[dict[str, Any]]:
    """The lines of the audit log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def accounts(lines: list[dict[str, Any]], action: str) -> tuple[dict[str, Any], set[str], dict[str, Any]]:
    """The intent, the ids as they were before, and the outcome of one action."""
    intent = next(line for line in lines if line["event"] == "intent" and line["action"] == action)
    own = [line for line in lines if line["audit_id"] == intent["audit_id"]]
    before = {each[0] for line in own if line["event"] == "before" for each in line["rows"]}
    return intent, before, next(line for line in own if line["event"] == "outcome")


@pytest.mark.terminal
@pytest.mark.parametrize(("width", "height"), [(120, 36), (80, 24)])
def test_by_keys_alone(terminal: Terminal, program: str, tmp_path: Path, width: int, height: int) -> None:
    log = tmp_path / "audit.jsonl"
    terminal.start(f"{program} demo", width=width, height=height, environment={"ECHOMQ_AUDIT": str(log)})
    screen = terminal.until(
        lambda text: "stuck" in row(text, "billing") and "stuck" in row(text, "mailer") and "poison" in text,
        "the incident",
    )
    assert "well" in row(screen, "search")
    assert "T 5s" in screen
    assert "web-3 holds 60 entries and has not been seen for" in screen

    # The consumer that never comes back: its peers are recovered by a beat.
    terminal.keys("A")
    terminal.until(lambda text: "Autoclaim" in text and "Cancel" in text, "the plan of the autoclaim")
    terminal.keys("Right", "Enter")
    terminal.until(lambda text: "60 entries processed and acknowledged" in text, "the autoclaim's outcome")
    terminal.keys("Enter")
    terminal.until(lambda text: "well" in row(text, "billing"), "billing well again")

    # The consumer that restarted and never drained: it is recovered by a drain of its own list.
    terminal.keys("Home")
    terminal.until(lambda text: "▸ ▲ stuck" in row(text, "mailer"), "the cursor on mailer")
    terminal.keys("D")
    terminal.until(lambda text: "Drain mail-1" in text and "Cancel" in text, "the plan of the drain")
    terminal.keys("Right", "Enter")
    terminal.until(lambda text: "38 entries processed and acknowledged" in text, "the drain's outcome")
    terminal.keys("Enter")
    terminal.until(lambda text: "well" in row(text, "mailer"), "mailer well again")

    # The entry that breaks its handler goes to the dead letters.
    terminal.keys("Home")
    terminal.until(lambda text: "▸ ▲ poison" in text, "the cursor on the poison entry's group")
    terminal.keys("X")
    terminal.until(lambda text: "Dead-letter" in text and "Cancel" in text, "the plan of the dead-lettering")
    terminal.keys("Right", "Enter")
    terminal.until(lambda text: "1 entry moved to the dead letters" in text, "the dead-lettering's outcome")
    terminal.keys("Enter")
    terminal.until(lambda text: "● 4 well" in text, "everything well")

    # It is there to be seen, with where it came from.
    terminal.keys("End")
    terminal.until(lambda text: "▸" in row(text, "ledger"), "the cursor on its group")
    terminal.keys("Enter")
    terminal.until(lambda text: "3 Dead letters 1" in text, "the group")
    terminal.keys("3")
    terminal.until(lambda text: "moved by an op" in text, "the dead letter")
    terminal.keys("Enter")
    terminal.until(lambda text: "owner then" in text and "[/x]" in left_pane(text), "the dead letter in full")

    lines = audited(log)
    for action, entries in (("autoclaim", 60), ("drain", 38), ("dead-letter", 1)):
        intent, before, outcome = accounts(lines, action)
        assert len(before) == entries
        assert set(outcome["ids"]) == before
        assert outcome["done"] == entries
        assert outcome["error"] is None
        assert intent["commands"]
    terminal.keys("q")
    terminal.until(lambda _: terminal.has_ended(), "the end of the program")


@pytest.fixture
def incident(program: str) -> Iterator[str]:
    """A demo without the app; gives its URL."""
    demo = subprocess.Popen([program, "demo", "--no-app"], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert demo.stdout is not None
    url = re.search(r"redis://127\.0\.0\.1:\d+", demo.stdout.readline())
    assert url is not None
    yield url[0]
    demo.send_signal(signal.SIGTERM)
    demo.stdout.close()
    assert demo.wait(30) == 0


def test_by_commands_alone(program: str, incident: str, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    environment = {**os.environ, "ECHOMQ_URL": incident, "ECHOMQ_AUDIT": str(log)}
    t = ("--job-time", "5s")
    handler = ("--handler", "echomq_console.demo.handlers:handle")
    events, captures = "emq:{orders}:stream:events", "emq:{payments}:stream:captures"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, env=environment, timeout=60, check=False
        )

    def findings() -> list[tuple[str, str, str | None]]:
        said = run("diagnose", *t, "--json")
        document = json.loads(said.stdout)
        assert said.returncode == (2 if document["findings"] else 0)
        return sorted((each["group"], each["rule"], each["consumer"]) for each in document["findings"])

    wanted = [("billing", "gone", "web-3"), ("ledger", "poison", None), ("mailer", "undrained", "mail-1")]
    found: list[tuple[str, str, str | None]] = []
    for _ in range(100):  # the incident shows when its entries have been idle for T
        found = findings()
        if len(found) >= len(wanted):
            break
    assert [each[:2] for each in found] == [each[:2] for each in wanted]

    done = run("autoclaim", events, "billing", *t, *handler, "--yes")
    assert done.returncode == 0, done.stderr
    assert "60 entries processed and acknowledged" in done.stdout
    done = run("drain", events, "mailer", "mail-1", *t, *handler, "--yes")
    assert done.returncode == 0, done.stderr
    assert "38 entries processed and acknowledged" in done.stdout
    rows = json.loads(run("pending", captures, "ledger", "--json").stdout)["pending"]
    poison = [each["id"] for each in rows if each["delivery_count"] >= 5]
    assert len(poison) == 1
    planned = json.loads(run("dead-letter", captures, "ledger", *poison, *t, "--dry-run", "--json").stdout)
    count = planned["plan"]["count"]
    done = run("dead-letter", captures, "ledger", *poison, *t, "--reason", "no amount", "--yes", "--count", str(count))
    assert done.returncode == 0, done.stderr
    assert findings() == []
    letters = json.loads(run("dead-letters", captures, "--json").stdout)["dead_letters"]
    assert [each["provenance"]["reason"] for each in letters] == ["no amount"]
    lines = audited(log)
    for action, entries in (("autoclaim", 60), ("drain", 38), ("dead-letter", 1)):
        _, before, outcome = accounts(lines, action)
        assert len(before) == entries
        assert set(outcome["ids"]) == before
