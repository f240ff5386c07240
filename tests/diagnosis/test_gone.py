"""gone and silent: a consumer that holds entries and was not seen for T."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from echomq_console.model.finding import Severity, Thresholds

T = 300_000
Make = Callable[..., Any]


def test_a_consumer_not_seen_for_t_that_holds_entries_is_gone(make: Make) -> None:
    world = (
        make()
        .consumer(b"web-1", idle=200, rows=4, longest=50)
        .consumer(b"web-3", idle=842_000, rows=1_197, overdue=1_197)
    )
    (finding,) = world.findings()
    assert (finding.rule, finding.severity, finding.consumer) == ("gone", Severity.CRITICAL, b"web-3")
    assert finding.headline == "web-3 holds 1,197 entries and has not been seen for 14m 02s."
    assert finding.evidence["pending"] == 1_197
    assert finding.evidence["longest_idle_ms"] == 842_000
    assert finding.evidence["rows_looked_at"] == 1_197
    assert finding.recovery.action == "autoclaim"
    assert finding.recovery.consumer == b"web-3"
    assert finding.recovery.command == "echomq-console autoclaim orders billing --min-idle 5m --handler MODULE:FUNCTION"
    assert "delete the consumer" in finding.warning
    assert any("same name" in line for line in finding.advice)
    assert "dead" not in finding.headline


@pytest.mark.parametrize(("idle", "is_gone"), [(T - 1, False), (T, True)])
def test_the_consumer_must_be_unseen_for_t(make: Make, idle: int, is_gone: bool) -> None:
    world = make().consumer(b"web-3", idle=idle, rows=2, longest=T + 5, shortest=T)
    assert ("gone" in world.rules()) == is_gone


@pytest.mark.parametrize(("shortest", "is_gone"), [(T - 1, False), (T, True)])
def test_every_row_it_holds_must_be_idle_for_t(make: Make, shortest: int, is_gone: bool) -> None:
    world = make().consumer(b"web-3", idle=2 * T, rows=2, longest=3 * T, shortest=shortest)
    assert ("gone" in world.rules()) == is_gone


def test_a_connection_of_its_own_speaks_against_gone(make: Make) -> None:
    assert "gone" not in make().consumer(b"c", idle=2 * T, rows=2, connections=("10.1.4.21:50112",)).rules()
    assert "gone" in make().consumer(b"c", idle=2 * T, rows=2, connections=None).rules()
    assert "gone" in make().consumer(b"c", idle=2 * T, rows=2, connections=()).rules()


def test_a_consumer_that_holds_nothing_is_nobodys_worry(make: Make) -> None:
    assert make().consumer(b"old", idle=900 * T).findings() == []


def test_what_only_other_rules_can_cure_is_not_gone(make: Make) -> None:
    assert make().consumer(b"c", idle=2 * T, rows=3, poison=2, ghosts=1).rules() == []
    (finding,) = make().consumer(b"c", idle=2 * T, rows=3, poison=1, ghosts=1).findings()
    assert finding.advice[0] == "First dead-letter the 1 entry among them delivered 5 times or more."


def test_where_no_row_was_looked_at_yet_the_consumers_own_idle_time_decides(make: Make) -> None:
    scan = {"rows": 1_000, "total": 500_000}
    world = make(scan_fields=scan).consumer(b"c", idle=T, pending=1_000)
    (finding,) = world.findings()
    assert finding.rule == "gone"
    assert finding.evidence["rows_looked_at"] == 0
    assert finding.evidence["shortest_idle_ms"] is None
    assert make(scan_fields=scan).consumer(b"c", idle=T - 1, pending=1_000).rules() == []
    assert make(scan_fields={"rows": 7, "total": 7}).consumer(b"c", idle=T, pending=1_000).rules() == []


def test_a_server_that_cannot_tell_gone_from_quiet_says_silent(make: Make) -> None:
    world = make().consumer(b"web-3", idle=842_000, rows=12, overdue=12, idle_is_last_try=False)
    (finding,) = world.findings()
    assert (finding.rule, finding.severity) == ("silent", Severity.WARNING)
    assert finding.headline == "web-3 holds 12 entries and has received nothing for 14m 02s."
    assert finding.recovery.command.endswith("--min-idle 5m --handler MODULE:FUNCTION")
    assert "below 5m" in finding.warning


@pytest.mark.parametrize(("idle", "is_silent"), [(T - 1, False), (T, True)])
def test_silent_has_the_same_boundary(make: Make, idle: int, is_silent: bool) -> None:
    world = make().consumer(b"web-3", idle=idle, rows=2, longest=T, idle_is_last_try=False)
    assert ("silent" in world.rules()) == is_silent


class TestTouchedByTheConsole:
    """A claim *to* a consumer made its idle time young; only what it does itself counts."""

    key = (b"orders", b"billing", b"web-3")

    def test_it_counts_as_unseen_until_it_acts(self, make: Make) -> None:
        world = make().consumer(b"web-3", idle=12_000, rows=5, longest=2 * T, overdue=5)
        (finding,) = world.findings(touched={self.key: world.now_ms - 12_000})
        assert finding.rule == "gone"
        assert "nothing of its own since this console claimed entries to it 12s ago" in finding.headline
        assert [f.rule for f in world.findings()] == ["undrained"]

    @pytest.mark.parametrize(("idle", "rule"), [(11_000, "gone"), (10_999, "undrained")])
    def test_an_idle_time_younger_than_the_claim_is_its_own_act(self, make: Make, idle: int, rule: str) -> None:
        world = make().consumer(b"web-3", idle=idle, rows=5, longest=2 * T, overdue=5)
        assert [f.rule for f in world.findings(touched={self.key: world.now_ms - 12_000})] == [rule]

    def test_what_was_handed_over_just_now_may_still_be_taken_up(self, make: Make) -> None:
        world = make().consumer(b"web-3", idle=12_000, rows=5, longest=12_000)
        assert world.findings(touched={self.key: world.now_ms - 12_000}) == []

    def test_a_claim_after_the_look_says_nothing_about_it(self, make: Make) -> None:
        world = make(group_fields={"consumers_at_ms": 1_000_000}).consumer(b"web-3", idle=100, rows=1, longest=2 * T)
        assert world.findings(touched={self.key: 1_002_000}) == []

    def test_another_groups_consumer_of_that_name_is_not_meant(self, make: Make) -> None:
        world = make().consumer(b"web-3", idle=12_000, rows=5, longest=2 * T, overdue=5)
        touched = {(b"orders", b"mailer", b"web-3"): world.now_ms - 12_000}
        assert [f.rule for f in world.findings(touched=touched)] == ["undrained"]


def test_a_command_spells_out_a_t_that_is_not_the_usual_one(make: Make) -> None:
    world = make(thresholds=Thresholds(job_ms=5_000)).consumer(b"web-3", idle=9_000, rows=3, longest=9_000, overdue=3)
    (finding,) = world.findings()
    assert finding.recovery.command.endswith("--min-idle 5s --handler MODULE:FUNCTION --job-time 5s")
