"""The soak, in the short form: every kind of fault, every kind of entry, and nothing forbidden at the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.chaos.checker import MARKED, Dead, History, check
from tests.chaos.faults import KINDS
from tests.chaos.kinds import Plan, kinds
from tests.chaos.running import Outcome, show, soak

SHORT = Plan(seed=7, entries=5000, seconds=15.0)


EVERY_END = {"killed", "stopped", "killed by an entry", "left to peers"}


@pytest.mark.timeout(480)
async def test_nothing_is_lost_under_chaos() -> None:
    """Every seed must be clean; where chance left out a way to end, as on a busy machine, the next has its turn."""
    ended: set[str] = set()
    for seed in (SHORT.seed, SHORT.seed + 1, SHORT.seed + 2):
        outcome = await soak(replace(SHORT, seed=seed))
        assert outcome.verdict.violations == {}
        assert outcome.unclean == ()
        assert outcome.confirmed == SHORT.entries
        assert outcome.verdict.handled >= outcome.confirmed - sum(outcome.added[kind] for kind in MARKED)
        assert set(outcome.faults) == set(KINDS)
        assert min(outcome.faults.values()) > 0, outcome.faults
        assert set(outcome.added) == {"plain", "slow", "fail", *MARKED}
        assert outcome.verdict.counts["recovered"] > 0
        ended |= set(outcome.ended)
        if ended == EVERY_END:
            break
    assert ended == EVERY_END


def test_kinds_are_chosen_by_the_seed() -> None:
    assert kinds(SHORT) == kinds(SHORT)
    assert kinds(SHORT) != kinds(replace(SHORT, seed=8))
    assert all(n < SHORT.entries for n in kinds(SHORT))


def test_a_violation_is_shown_and_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verdict = check(History({1: "plain", 2: "plain"}, {1, 2}, {1, 2}, [], set(), [Dead(2, 5)], limit=5))
    outcome = Outcome(SHORT, verdict, Counter(), 2, Counter(), Counter(), (), 1.0, 0.1)
    assert not outcome.is_good
    with (tmp_path / "shown").open("w+") as shown:
        show(outcome, Console(file=shown, width=110))
    said = json.loads(capsys.readouterr().out)
    assert said["good"] is False
    assert said["violations"] == {"lost": [1], "bystanders": [2]}


def test_a_consumer_that_ends_badly_is_a_violation() -> None:
    verdict = check(History({}, set(), set(), [], set(), [], limit=5))
    good = Outcome(SHORT, verdict, Counter(), 0, Counter(), Counter(), (), 1.0, 0.1)
    assert good.is_good
    assert not replace(good, unclean=("c1 ended with 1",)).is_good
