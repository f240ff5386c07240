"""The whole: order, health, conditions, harmless words, commands that can be pasted."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from echomq_console.diagnosis import condition_of, diagnose, health_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import ConsumerCondition, Finding, Health, Thresholds
from echomq_console.model.snapshot import PendingEntry

T = 300_000
Make = Callable[..., Any]


def test_a_healthy_group_is_quiet(make: Make) -> None:
    world = make(group_fields={"lag": 3}, stream_fields={"last_generated_id": EntryId(103, 0)})
    world.consumer(b"busy", idle=200, rows=50, longest=4_000).consumer(b"parked", idle=20_000)
    world.consumer(b"old name", idle=90 * T)
    assert world.findings() == []
    group = world.snapshot().streams[0].groups[0]
    assert health_of((), group) is Health.WELL


def test_worst_first_then_longest_idle(make: Make) -> None:
    row = PendingEntry(EntryId(1, 0), b"a", 2 * T, 9)
    scan = {"ghosts": (EntryId(1, 1),), "ghost_count": 1, "poison": (row,), "poison_count": 1}
    world = make(scan_fields=scan)
    world.consumer(b"b", idle=3 * T, rows=2, overdue=2).consumer(b"c", idle=5 * T, rows=2, overdue=2)
    found = [(f.rule, f.consumer) for f in world.findings()]
    assert found == [("gone", b"c"), ("gone", b"b"), ("poison", None), ("ghosts", None)]


def test_health_is_the_worst_finding_of_the_group_itself(make: Make) -> None:
    world = make(scan_fields={"ghosts": (EntryId(1, 1),), "ghost_count": 1}).consumer(b"b", idle=1, rows=2)
    snapshot = world.snapshot()
    group = snapshot.streams[0].groups[0]
    findings = world.findings()
    assert health_of(findings, group) is Health.WARNING
    assert health_of(findings, replace(group, name=b"another")) is Health.WELL
    assert health_of((), replace(group, problem="permission denied")) is Health.UNKNOWN
    assert health_of(findings, replace(group, problem="permission denied")) is Health.WARNING


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        ({"idle": T - 1, "rows": 3}, ConsumerCondition.READING),
        ({"idle": T}, ConsumerCondition.QUIET),
        ({"idle": T, "rows": 3}, ConsumerCondition.GONE),
        ({"idle": T, "rows": 3, "connections": ("10.0.0.1:5",)}, ConsumerCondition.QUIET),
        ({"idle": T, "rows": 3, "longest": 2 * T, "shortest": T - 1}, ConsumerCondition.UNKNOWN),
        ({"idle": T, "rows": 3, "idle_is_last_try": False}, ConsumerCondition.SILENT),
        ({"idle": T, "idle_is_last_try": False}, ConsumerCondition.QUIET),
    ],
)
def test_conditions(make: Make, fields: dict[str, Any], condition: ConsumerCondition) -> None:
    world = make().consumer(b"c", **fields)
    group = world.snapshot().streams[0].groups[0]
    assert condition_of(group.consumers[0], group, Thresholds(), now_ms=world.now_ms) is condition


def test_a_touched_consumer_is_not_reading_until_it_acts(make: Make) -> None:
    world = make().consumer(b"c", idle=5_000, rows=3, longest=2 * T)
    group = world.snapshot().streams[0].groups[0]
    thresholds, now = Thresholds(), world.now_ms

    def condition(touched_ms: int) -> ConsumerCondition:
        return condition_of(group.consumers[0], group, thresholds, now_ms=now, touched_ms=touched_ms)

    assert condition(now - 5_000) is ConsumerCondition.GONE
    assert condition(now - 60_000) is ConsumerCondition.READING
    young = make().consumer(b"c", idle=5_000, rows=3, longest=5_000).snapshot().streams[0].groups[0]
    assert (
        condition_of(young.consumers[0], young, thresholds, now_ms=now, touched_ms=now - 5_000)
        is ConsumerCondition.UNKNOWN
    )


HOSTILE = (b"\x1b[2J", b"[/x]", "\u202egnp".encode(), b"\xff\xfe", b"a'b\\", b"", b"-x", b"a b", b"\n", b"$(reboot)")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless_and_reached_exactly(make: Make, name: bytes) -> None:
    rows = (PendingEntry(EntryId(1, 0), name, 9, 9),)
    world = make(
        stream=name,
        group=name,
        scan_fields={"poison": rows, "poison_count": 1, "ghosts": (EntryId(2, 0),), "ghost_count": 1},
        stream_fields={"last_generated_id": EntryId(200, 0)},
        group_fields={"lag": 9},
    )
    world.consumer(name, idle=2 * T, rows=9, overdue=9)
    reader = make(stream=name, group=name).consumer(name, idle=1, rows=9, longest=2 * T, overdue=9)
    findings: list[Finding] = [*world.findings(), *reader.findings()]
    assert {f.rule for f in findings} == {"gone", "poison", "ghosts", "stalled", "undrained"}
    for finding in findings:
        for text in (finding.headline, finding.explanation, finding.warning, *finding.advice):
            assert text.isprintable()
        assert all(value.isprintable() for value in finding.evidence.values() if isinstance(value, str))
        assert finding.recovery.command.isprintable()
        if finding.recovery.command:
            words = _words_of(finding.recovery.command)
            positional = words[words.index(b"--") + 1 :] if b"--" in words else words[1:]
            assert positional[:2] == [name, name]
            assert not name.startswith(b"-") or b"--" in words


def test_a_name_no_command_line_can_carry_gets_no_command(make: Make) -> None:
    (finding,) = make(group=b"a\0b").consumer(b"c", idle=2 * T, rows=9).findings()
    assert finding.recovery.action == "autoclaim"
    assert finding.recovery.command == ""


def test_thresholds_are_the_callers(make: Make) -> None:
    world = make().consumer(b"c", idle=50, rows=9, longest=50)
    snapshot = world.snapshot()
    assert diagnose(snapshot, (), Thresholds(job_ms=51)) == ()
    (finding,) = diagnose(snapshot, (), Thresholds(job_ms=50))
    assert "--min-idle 50ms" in finding.recovery.command


def _words_of(command: str) -> list[bytes]:
    """What a shell makes of a command."""
    script = "echomq-console() { printf '%s\\0' \"$@\"; }; " + command
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]
