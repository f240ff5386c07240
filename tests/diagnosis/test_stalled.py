"""stalled: new entries, and nobody reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Severity

LIMIT = 60_000
NOW = 1_769_526_697_641
Make = Callable[..., Any]

WAITING: dict[str, Any] = {"group_fields": {"lag": 12}, "stream_fields": {"last_generated_id": EntryId(112, 0)}}
CAUGHT_UP: dict[str, Any] = {"group_fields": {"lag": 0}}


@pytest.mark.parametrize(("idle", "fires"), [(LIMIT - 1, False), (LIMIT, True)])
def test_new_entries_that_nobody_reads_for_a_minute(make: Make, idle: int, fires: bool) -> None:
    world = make(**WAITING).consumer(b"a", idle=idle).consumer(b"b", idle=10 * LIMIT)
    assert world.rules() == (["stalled"] if fires else [])


def test_what_it_says(make: Make) -> None:
    (finding,) = make(**WAITING).consumer(b"a", idle=70_000).findings()
    assert (finding.severity, finding.consumer) == (Severity.CRITICAL, None)
    assert finding.headline == "12 entries not delivered yet wait, and nobody has read for 1m 10s."
    assert finding.evidence["lag"] == 12
    assert finding.evidence["longest_idle_ms"] == 70_000
    assert finding.recovery.action == ""
    assert "busy" not in finding.explanation
    (finding,) = make(**WAITING).consumer(b"a", idle=70_000, rows=1).findings()
    assert "busy" in finding.explanation


def test_an_unknown_lag_is_judged_by_the_ids(make: Make) -> None:
    unknown: dict[str, Any] = {"group_fields": {"lag": None}}
    ahead = make(**unknown, stream_fields={"last_generated_id": EntryId(100, 1)}).consumer(b"a", idle=LIMIT)
    (finding,) = ahead.findings()
    assert finding.headline.startswith("New entries (the server cannot say how many) wait")
    assert finding.evidence["lag"] is None
    assert make(**unknown).consumer(b"a", idle=LIMIT).rules() == []
    emptied = {"last_generated_id": EntryId(100, 1), "length": 0}
    assert make(**unknown, stream_fields=emptied).consumer(b"a", idle=LIMIT).rules() == []


def test_a_lag_that_the_ids_contradict_is_not_believed(make: Make) -> None:
    assert make(group_fields={"lag": 12}).consumer(b"a", idle=LIMIT).rules() == []


def test_a_reader_that_had_nothing_to_read_is_no_stall(make: Make) -> None:
    assert make(**CAUGHT_UP).consumer(b"a", idle=50 * LIMIT).rules() == []


def test_entries_that_just_came_have_not_waited_for_a_minute(make: Make) -> None:
    earlier = make(now_ms=NOW - 2_000, **CAUGHT_UP).consumer(b"a", idle=LIMIT).snapshot()
    assert make(**WAITING).consumer(b"a", idle=LIMIT + 2_000).rules(earlier) == []


def test_a_group_that_moved_is_being_read(make: Make) -> None:
    moved = {"group_fields": {"lag": 12, "last_delivered_id": EntryId(90, 0)}}
    earlier = make(now_ms=NOW - 2_000, **moved).snapshot()
    assert make(**WAITING).consumer(b"a", idle=LIMIT + 2_000).rules(earlier) == []


@pytest.mark.parametrize(("age", "fires"), [(LIMIT - 1, False), (LIMIT, True)])
def test_without_consumers_only_earlier_snapshots_can_tell(make: Make, age: int, fires: bool) -> None:
    assert make(**WAITING).rules() == []
    earlier = [make(now_ms=NOW - ago, **WAITING).snapshot() for ago in (age, 30_000, 1_000)]
    (*findings,) = make(**WAITING).findings(*earlier)
    assert [f.rule for f in findings] == (["stalled"] if fires else [])
    if fires:
        assert "the group has no consumers" in findings[0].headline


def test_a_group_that_could_not_be_read_is_not_called_stalled(make: Make) -> None:
    earlier = make(now_ms=NOW - LIMIT, **WAITING).snapshot()
    fields = {"lag": 12, "problem": "permission denied for XINFO CONSUMERS"}
    world = make(group_fields=fields, stream_fields=WAITING["stream_fields"])
    assert world.rules(earlier) == []


def test_a_claim_of_the_console_is_no_read(make: Make) -> None:
    touched = {(b"orders", b"billing", b"a"): NOW - 5_000}
    world = make(**WAITING).consumer(b"a", idle=5_000)
    earlier = make(now_ms=NOW - LIMIT, **WAITING).consumer(b"a", idle=400_000).snapshot()
    assert [f.rule for f in world.findings(earlier, touched=touched)] == ["stalled"]
    assert world.findings(touched=touched) == []
    assert world.findings(earlier) == []
