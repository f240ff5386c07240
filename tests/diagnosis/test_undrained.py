"""undrained: a consumer lives, and holds what nobody has touched for T."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from echomq_console.model.finding import Severity

T = 300_000
Make = Callable[..., Any]


def test_a_reading_consumer_with_old_entries_is_undrained(make: Make) -> None:
    world = make().consumer(b"web-1", idle=300, rows=41, longest=842_000, shortest=5, overdue=38)
    (finding,) = world.findings()
    assert (finding.rule, finding.severity, finding.consumer) == ("undrained", Severity.CRITICAL, b"web-1")
    assert finding.headline == "web-1 reads, and leaves 38 of the 41 entries it holds untouched for up to 14m 02s."
    assert finding.recovery.action == "drain"
    assert finding.recovery.command == "echomq-console drain orders billing web-1 --handler MODULE:FUNCTION"
    assert "consumers does not help" in finding.warning


@pytest.mark.parametrize(("idle", "rules"), [(T - 1, ["undrained"]), (T, ["gone"])])
def test_the_two_failures_are_never_conflated(make: Make, idle: int, rules: list[str]) -> None:
    assert make().consumer(b"web-1", idle=idle, rows=3, longest=2 * T, overdue=3).rules() == rules


def test_young_entries_are_work_in_progress(make: Make) -> None:
    assert make().consumer(b"web-1", idle=300, rows=41, longest=T - 1).rules() == []


def test_a_connected_consumer_that_does_not_read_hangs(make: Make) -> None:
    world = make().consumer(b"web-1", idle=2 * T, rows=3, overdue=3, connections=("10.1.4.21:50112",))
    (finding,) = world.findings()
    assert finding.rule == "undrained"
    assert "is connected, has not read for 10m 00s" in finding.headline
    assert "hangs" in finding.explanation


def test_a_scan_that_is_older_than_the_consumers_claims_no_more_than_they_hold(make: Make) -> None:
    (finding,) = make().consumer(b"c", idle=5, rows=10, pending=4, longest=2 * T, overdue=10).findings()
    assert finding.evidence["overdue"] == 4
    assert make().consumer(b"c", idle=5, rows=10, pending=0, longest=2 * T, overdue=10).rules() == []


def test_before_7_2_too(make: Make) -> None:
    world = make().consumer(b"c", idle=5, rows=3, longest=2 * T, overdue=3, idle_is_last_try=False)
    assert world.rules() == ["undrained"]
