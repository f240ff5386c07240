"""The dialog of a run: it tells, it asks to pause and stop, and it stays until the run is over or sent away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from echomq_widgets.lines import line_width
from echomq_widgets.progress_dialog import ProgressDialog, bar_line
from echomq_widgets.views import Cell, ProgressView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage

RUNNING = ProgressView(
    "Autoclaim",
    "orders/events › billing",
    400,
    1197,
    counts=(Cell("ok 380", "good"), Cell("   failed 20 [/x]", "bad")),
    log=tuple((Cell(f"batch {number}: 100 handled"),) for number in range(20)),
)
FINISHED = replace(RUNNING, done=1197, finished=True, outcome=((Cell("✓ 1,170 handled, audit id 7f3a"),),))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_it_tells_how_far_the_run_is(open_stage: OpenStage, size: tuple[int, int]) -> None:
    dialog = ProgressDialog(RUNNING)
    async with open_stage(dialog, size) as stage:
        assert "33%   400 of 1,197" in stage.text
        assert "failed 20 [/x]" in stage.text
        assert "batch 19" in stage.text
        assert "batch 11:" not in stage.text
        assert "p pause" in stage.text
        assert "Close" not in stage.text
        dialog.show(replace(RUNNING, done=800))
        await stage.settle()
        assert "67%   800 of 1,197" in stage.text


async def test_pause_and_stop_are_wishes(open_stage: OpenStage) -> None:
    dialog = ProgressDialog(RUNNING)
    async with open_stage(dialog) as stage:
        await stage.press("p")
        assert "p go on" in stage.text
        await stage.press("p", "s", "s")
        assert [message.paused for message in stage.heard(ProgressDialog.PauseWanted)] == [True, False]
        assert len(stage.heard(ProgressDialog.StopWanted)) == 1
        assert "stopping after this batch" in stage.text
        assert stage.app.answers == []


async def test_it_stays_while_the_run_goes_on(open_stage: OpenStage) -> None:
    async with open_stage(ProgressDialog(RUNNING)) as stage:
        await stage.press("escape", "enter", "q")
        assert stage.app.answers == []
        assert "Autoclaim" in stage.text


async def test_it_can_be_sent_to_the_background(open_stage: OpenStage) -> None:
    async with open_stage(ProgressDialog(RUNNING)) as stage:
        await stage.press("b")
        assert len(stage.heard(ProgressDialog.BackgroundWanted)) == 1
        assert stage.app.answers == [None]


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_finished_run_shows_its_outcome_and_closes(open_stage: OpenStage, key: str) -> None:
    dialog = ProgressDialog(RUNNING)
    async with open_stage(dialog) as stage:
        dialog.show(FINISHED)
        await stage.settle()
        assert "✓ 1,170 handled, audit id 7f3a" in stage.text
        assert "[ Close ]" in stage.text
        assert "pause" not in stage.text
        await stage.press("p", "s", "b")
        assert stage.heard(ProgressDialog.PauseWanted) == []
        assert stage.heard(ProgressDialog.StopWanted) == []
        assert stage.app.answers == []
        await stage.press(key)
        assert stage.app.answers == [None]


@pytest.mark.parametrize(("done", "total"), [(0, 0), (0, 10), (1, 1_000_000), (10, 10), (15, 10)])
def test_the_bar_fills_its_line_and_never_overflows(done: int, total: int) -> None:
    line = bar_line(ProgressView("a", "b", done, total), 60)
    assert line_width(line) == 60
    assert f"{done:,} of {max(done, total):,}" in line[-1].text
