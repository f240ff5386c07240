"""The dialog before a run: Cancel is the default, a wrong number runs nothing, what is highlighted happens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from echomq_widgets.choice import Choice
from echomq_widgets.plan_dialog import PlanAnswer, PlanDialog
from echomq_widgets.plan_words import read_count
from echomq_widgets.views import Cell, Column, PlanView, Row, TableView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage

SAMPLE = TableView(
    (Column("entry", "entry", 18), Column("payload", "payload", 20, flex=True)),
    tuple(Row(number, (Cell(f"176952669764{number}-0"), Cell('{"event":"[/x]"}'))) for number in range(5)),
    total=1197,
)
PLAN = PlanView(
    "Autoclaim",
    "orders/events › billing",
    summary=(
        (Cell("About 1,197 entries move from web-3 (gone) to console-ana@bastion."),),
        (Cell("Each counts one more delivery [/x] and goes through the handler."),),
    ),
    warnings=("3 entries were delivered 5 times or more already.",),
    reassurances=("min-idle 5m is longer than anything this group is running.",),
    commands=("XAUTOCLAIM emq:{orders}:stream:events billing console-ana@bastion 300000 <cursor> COUNT 100",),
    sample=SAMPLE,
    count=1197,
)
COUNTED = replace(PLAN, ask="count")
SIZES = [(80, 24), (120, 40), (200, 50)]


@pytest.mark.parametrize("size", SIZES)
async def test_everything_is_shown(open_stage: OpenStage, size: tuple[int, int]) -> None:
    async with open_stage(PlanDialog(replace(COUNTED, handler="billing:charge")), size) as stage:
        text = stage.text
        for words in (
            "Autoclaim",
            "orders/events › billing",
            "About 1,197 entries",
            "delivery [/x] and",
            "⚠ 3 entries",
            "✓ min-idle",
            "1769526697640-0",
            "Handler: billing:charge",
            "Type how many:",
            "Cancel",
            "Run",
        ):
            assert words in text
        title = next(line for line in stage.lines if "Autoclaim" in line)
        assert title.strip(" │").endswith("orders/events › billing")
        if size != (80, 24):
            assert "… and 1,192 more" in text
            assert "XAUTOCLAIM emq:{orders}:stream:events billing" in text
            assert "more below" not in text


async def test_what_is_out_of_sight_is_announced_when_the_terminal_shrinks(open_stage: OpenStage) -> None:
    async with open_stage(PlanDialog(COUNTED), (80, 40)) as stage:
        assert "more below" not in stage.text
        await stage.pilot.resize_terminal(80, 18)
        await stage.settle()
        assert "more below" in stage.text
        assert "Cancel" in stage.text


async def test_small_terminals_scroll_the_plan_and_keep_the_buttons(open_stage: OpenStage) -> None:
    async with open_stage(PlanDialog(replace(COUNTED, handler="billing:charge")), (80, 20)) as stage:
        assert "more below" in stage.text
        assert "XAUTOCLAIM" not in stage.text
        await stage.press("pagedown", "pagedown")
        assert "XAUTOCLAIM" in stage.text
        assert "more below" not in stage.text
        assert "Cancel" in stage.text
        await stage.pilot.resize_terminal(60, 16)
        await stage.settle()
        assert "Cancel" in stage.text
        assert "Type how many:" in stage.text


@pytest.mark.parametrize("size", SIZES)
async def test_enter_cancels_at_first(open_stage: OpenStage, size: tuple[int, int]) -> None:
    async with open_stage(PlanDialog(PLAN), size) as stage:
        assert "[ Cancel ]" in stage.text
        assert "[ Run ]" not in stage.text
        await stage.press("enter")
        assert stage.app.answers == [None]


async def test_escape_cancels(open_stage: OpenStage) -> None:
    for plan in (PLAN, COUNTED, replace(PLAN, handler=""), replace(PLAN, refusal="no")):
        async with open_stage(PlanDialog(plan)) as stage:
            await stage.press("escape")
            assert stage.app.answers == [None]


@pytest.mark.parametrize("way", ["tab", "right"])
async def test_run_is_one_step_away_and_the_brackets_go_with_it(open_stage: OpenStage, way: str) -> None:
    async with open_stage(PlanDialog(PLAN)) as stage:
        await stage.press(way)
        assert "[ Run ]" in stage.text
        assert "[ Cancel ]" not in stage.text
        await stage.press("left" if way == "right" else "shift+tab")
        assert "[ Cancel ]" in stage.text
        await stage.press(way, "enter")
        assert stage.app.answers == [PlanAnswer(None, None)]


async def test_mouse_runs_and_cancels(open_stage: OpenStage) -> None:
    for button, answer in (("#plan-run", PlanAnswer()), ("#plan-cancel", None)):
        async with open_stage(PlanDialog(PLAN)) as stage:
            await stage.pilot.click(button)
            await stage.settle()
            assert stage.app.answers == [answer]


@pytest.mark.parametrize("typed", ["", "9", "1196", "11970", "x1197", "1197x", "-1197"])
async def test_a_wrong_number_runs_nothing(open_stage: OpenStage, typed: str) -> None:
    dialog = PlanDialog(COUNTED)
    async with open_stage(dialog) as stage:
        assert dialog.query_one("#plan-run", Choice).disabled
        await stage.press(*typed, "enter")
        assert stage.app.answers == []
        assert dialog.query_one("#plan-run", Choice).disabled
        problem = [line for line in stage.lines if "✕" in line]
        assert len(problem) == 1
        assert "1,197" in problem[0]
        await stage.pilot.click("#plan-run")
        await stage.settle()
        assert stage.app.answers == []
        await stage.press("tab", "enter")
        assert stage.app.answers == [None]


@pytest.mark.parametrize("typed", ["1197", "1,197", "1 197"])
async def test_the_right_number_runs(open_stage: OpenStage, typed: str) -> None:
    keys = ["comma" if letter == "," else "space" if letter == " " else letter for letter in typed]
    dialog = PlanDialog(COUNTED)
    async with open_stage(dialog) as stage:
        await stage.press(*keys)
        assert not dialog.query_one("#plan-run", Choice).disabled
        await stage.press("enter")
        assert stage.app.answers == [PlanAnswer(None, 1197)]


async def test_run_is_locked_again_when_the_number_is_changed(open_stage: OpenStage) -> None:
    dialog = PlanDialog(COUNTED)
    async with open_stage(dialog) as stage:
        await stage.press(*"1197", "backspace")
        assert dialog.query_one("#plan-run", Choice).disabled
        await stage.press("7", "tab", "tab", "enter")
        assert stage.app.answers == [PlanAnswer(None, 1197)]


async def test_a_refusal_stands_in_place_of_run(open_stage: OpenStage) -> None:
    refused = replace(COUNTED, handler="", refusal="read-only: started with --read-only [/x]")
    dialog = PlanDialog(refused)
    async with open_stage(dialog) as stage:
        assert "✕ cannot run: read-only: started with --read-only [/x]" in stage.text
        assert not dialog.query("#plan-run")
        assert not dialog.query(Input)
        assert "[ Cancel ]" in stage.text
        await stage.press("tab", "right", "enter")
        assert stage.app.answers == [None]


async def test_the_handler_is_answered_as_edited(open_stage: OpenStage) -> None:
    dialog = PlanDialog(replace(PLAN, handler="billing:charge"))
    async with open_stage(dialog) as stage:
        assert "[ Cancel ]" in stage.text
        dialog.query_one("#plan-handler", Input).focus()
        await stage.press("end", "2", "tab", "tab", "enter")
        assert stage.app.answers == [PlanAnswer("billing:charge2", None)]


async def test_no_run_without_a_handler(open_stage: OpenStage) -> None:
    words = "name a handler first, module:function or exec:COMMAND"
    dialog = PlanDialog(replace(COUNTED, handler="  "))
    async with open_stage(dialog) as stage:
        await stage.press("enter")
        assert words in stage.text
        await stage.press("tab", *"1197")
        assert words not in stage.text
        await stage.press("enter")
        assert stage.app.answers == []
        assert words in stage.text
        await stage.press(*"a:b", "enter", "enter")
        assert stage.app.answers == [PlanAnswer("a:b", 1197)]


async def test_enter_in_the_handler_never_runs(open_stage: OpenStage) -> None:
    async with open_stage(PlanDialog(replace(PLAN, handler=""))) as stage:
        await stage.press(*"a:b", "enter")
        assert stage.app.answers == []
        assert "[ Cancel ]" in stage.text
        await stage.press("enter")
        assert stage.app.answers == [None]


async def test_a_long_target_is_never_cut(open_stage: OpenStage) -> None:
    target = "emq:{" + "orders-" * 15 + "eu}:stream:events › billing"
    async with open_stage(PlanDialog(replace(PLAN, target=target))) as stage:
        joined = "".join(line.strip(" │╭╮╰╯─") for line in stage.lines[:5])
        assert target.replace(" ", "") in joined.replace(" ", "")


def test_read_count() -> None:
    assert [read_count(text) for text in ("1197", "1,197", "1 197", "1.197", "1_197", " 7 ")] == [1197] * 5 + [7]
    assert [read_count(text) for text in ("", "-1", "x", "1e3", "٣", "0x10")] == [None] * 6
