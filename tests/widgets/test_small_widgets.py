"""Sparkline, bars, header and text."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import echomq_widgets
from echomq_widgets.bars import bar, histogram_line, histogram_lines
from echomq_widgets.header_bar import HeaderBar, header_line
from echomq_widgets.histogram import Histogram
from echomq_widgets.lines import line_width
from echomq_widgets.sparkline import spark
from echomq_widgets.text_panel import TextPanel
from echomq_widgets.views import Bar, Cell, HeaderView, HistogramView, Line, TextView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage

IDLE = HistogramView("idle", (Bar("<1s", 7), Bar("1s-1m", 0), Bar("5m-1h", 1197, "bad")))


def plain(line: Line) -> str:
    return "".join(cell.text for cell in line)


def test_plain_modules_do_not_import_textual() -> None:
    code = (
        "import sys, echomq_widgets, echomq_widgets.views, echomq_widgets.sparkline, echomq_widgets.bars, "
        "echomq_widgets.columns, echomq_widgets.plan_words\n"
        "echomq_widgets.spark([1], 1)\n"
        "sys.exit('textual' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there() -> None:
    assert all(hasattr(echomq_widgets, name) for name in echomq_widgets.__all__)
    assert not hasattr(echomq_widgets, "nothing")


def test_spark() -> None:
    assert spark([0, 1, 2, 3, 4, 5, 6, 7], 8) == "▁▂▃▄▅▆▇█"
    assert spark([500] * 6, 6) == "▅▅▅▅▅▅"
    assert spark([0, 0, 0], 3) == "▁▁▁"
    assert spark([None, 1, None, 8], 4) == " ▁ █"
    assert spark([1, 8], 5) == "   ▁█"
    assert spark([0, 0, 0, 8, 8, 8], 2) == "▁█"
    assert spark([], 3) == "   "
    assert spark([1], 0) == ""
    assert spark([float("nan"), float("inf"), 3], 3) == "  ▅"
    assert spark([5, 5], 2, low=0, high=5) == "██"


def test_spark_does_not_make_mountains_of_nothing() -> None:
    assert set(spark([1000, 1001, 1000, 1002], 4)) <= {"▄", "▅"}


@given(st.lists(st.none() | st.floats(), max_size=50), st.integers(0, 30))
def test_spark_is_as_wide_as_asked(values: list[float | None], width: int) -> None:
    assert len(spark(values, width)) == width


def test_bar() -> None:
    assert bar(0, 10, 8) == "▏"
    assert bar(1, 1_000_000, 8) == "▏"
    assert bar(10, 10, 8) == "████████"
    assert bar(5, 10, 4) == "██"
    assert bar(9, 16, 1) == "▋" or bar(9, 16, 1) == "▌"
    assert bar(0, 0, 8) == "▏"
    assert bar(20, 10, 2) == "██"


def test_histogram_in_one_line() -> None:
    line = histogram_line(IDLE, 100, title_width=10)
    assert plain(line).startswith("idle         <1s ▏7     1s-1m ▏0     5m-1h ████████████ 1,197")
    zero = next(place for place, cell in enumerate(line) if cell.text == "0")
    assert [cell.tone for cell in line[zero - 1 : zero + 1]] == ["dim", "dim"]
    assert line[-2].tone == "bad"
    assert line_width(histogram_line(IDLE, 45)) <= 45
    assert plain(histogram_line(IDLE, 45)).endswith("1,197")
    assert line_width(histogram_line(IDLE, 10)) <= 10


def test_histogram_in_lines() -> None:
    lines = [plain(line) for line in histogram_lines(IDLE, 40)]
    assert lines[0] == "idle"
    assert lines[1].startswith("  <1s ▏7")
    assert lines[3].endswith("█ 1,197")
    assert {len(line) <= 40 for line in lines} == {True}


async def test_histogram_widget(open_stage: OpenStage) -> None:
    histogram = Histogram(IDLE)
    async with open_stage(histogram) as stage:
        assert "1,197" in stage.lines[0]
        assert histogram.size.height == 1
    histogram = Histogram(IDLE, one_line=False)
    async with open_stage(histogram) as stage:
        assert histogram.size.height == 4
        histogram.update_view(HistogramView("idle", IDLE.bars[:1]))
        await stage.settle()
        assert histogram.size.height == 2


HEADER = HeaderView(
    (Cell("echomq · prod-eu"),),
    (Cell("ping 0.4ms"), Cell(" · our cost 0.2%"), Cell("   "), Cell("◼ READ-ONLY", "warn")),
)


def test_the_right_side_of_a_header_gives_way_but_its_last_word_stays() -> None:
    assert plain(header_line(HEADER, 80)).endswith("ping 0.4ms · our cost 0.2%   ◼ READ-ONLY")
    assert line_width(header_line(HEADER, 80)) == 80
    narrow = plain(header_line(HEADER, 50))
    assert narrow.startswith("echomq · prod-eu  ")
    assert narrow.endswith(" our cost 0.2%   ◼ READ-ONLY")
    assert "·" not in narrow.removeprefix("echomq · prod-eu")
    assert plain(header_line(HEADER, 30)).endswith("  ◼ READ-ONLY")
    assert plain(header_line(HEADER, 25)) == "echomq · prod-eu  ◼ READ…"
    assert plain(header_line(HEADER, 18)).rstrip() == "echomq · prod-eu"
    assert plain(header_line(HEADER, 8)) == "echomq …"


@given(st.integers(0, 100))
def test_a_header_is_exactly_as_wide_as_its_line(width: int) -> None:
    assert line_width(header_line(HEADER, width)) == width


async def test_header_widget(open_stage: OpenStage) -> None:
    bar = HeaderBar(HEADER)
    async with open_stage(bar) as stage:
        assert stage.lines[0].endswith("◼ READ-ONLY")
        bar.update_view(HeaderView((Cell("[/x]"),)))
        await stage.settle()
        assert stage.lines[0].rstrip() == "[/x]"


@pytest.mark.parametrize("size", [(40, 10), (80, 24)])
async def test_text_panel_wraps_and_scrolls(open_stage: OpenStage, size: tuple[int, int]) -> None:
    words = " ".join(f"word-{number}" for number in range(300))
    panel = TextPanel(TextView(((Cell("[/x] [bold]title[/]"),), (Cell(words),), (Cell("the end"),))))
    async with open_stage(panel, size) as stage:
        assert stage.lines[0].startswith("[/x] [bold]title[/]")
        assert "the end" not in stage.text
        panel.focus()
        await stage.press("j")
        assert stage.lines[0].startswith("word-0 word-1")
        top = panel.scroll_offset.y
        panel.update_view(TextView((*panel.view.lines, (Cell("after"),))))
        await stage.settle()
        assert panel.scroll_offset.y == top
        await stage.press("end")
        await stage.pilot.wait_for_animation()
        await stage.settle()
        assert "the end" in stage.text
        panel.update_view(TextView(((Cell("another"),), (Cell(words),))), from_top=True)
        await stage.settle()
        assert stage.lines[0].startswith("another")
