"""What a line of the table looks like: columns, cropping, signs, and text that is only text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from echomq_widgets.columns import place_columns
from echomq_widgets.table import WindowedTable
from echomq_widgets.views import Cell, Column, Row, TableView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage

COLUMNS = (
    Column("health", "health", 10, sortable=True),
    Column("name", "stream › group", 20, flex=True),
    Column("lag", "lag", 8, "right"),
    Column("cons", "consumers", 14, drop=2),
    Column("in", "in/s", 7, "right", drop=3),
    Column("ack", "ack/s", 7, "right", drop=3),
    Column("trend", "trend", 10, drop=4),
)


def shown(width: int) -> list[str]:
    return [place.column.key for place in place_columns(COLUMNS, width, 2).shown]


def row(name: str, lag: str = "0") -> Row:
    return Row(name, tuple(Cell(text) for text in ("● well", name, lag, "3 reading", "41.0", "40.0", "▁▂▃")))


def test_columns_are_dropped_by_priority() -> None:
    assert shown(200) == ["health", "name", "lag", "cons", "in", "ack", "trend"]
    assert shown(89) == ["health", "name", "lag", "cons", "in", "ack"]
    assert shown(77) == ["health", "name", "lag", "cons", "in"]
    assert shown(68) == ["health", "name", "lag", "cons"]
    assert shown(45) == ["health", "name", "lag"]


@pytest.mark.parametrize("width", [45, 70, 80, 90, 120, 200])
def test_flex_takes_what_is_left(width: int) -> None:
    places = place_columns(COLUMNS, width, 2).shown
    assert places[-1].start + places[-1].width == width


def test_what_must_stay_gets_narrower_before_it_goes() -> None:
    places = place_columns(COLUMNS, 36, 2).shown
    assert [(place.column.key, place.width) for place in places] == [("health", 10), ("name", 12), ("lag", 8)]
    assert place_columns(COLUMNS, 0, 2).shown == ()


async def test_columns_at_80_and_120(open_stage: OpenStage) -> None:
    table = WindowedTable(TableView(COLUMNS, (row("orders › billing"),)))
    async with open_stage(table, (80, 24)) as stage:
        assert stage.lines[0].split() == ["health", "stream", "›", "group", "lag", "consumers", "in/s", "ack/s"]
        await stage.pilot.resize_terminal(120, 24)
        await stage.settle()
        assert stage.lines[0].split()[-2:] == ["ack/s", "trend"]


@pytest.mark.parametrize(
    "hostile", ["[/x]", "[bold red]hi[/]", "[@click=app.quit]quit[/]", "$primary", "{x}", "\\[x]", ":smile:"]
)
async def test_text_is_never_markup(open_stage: OpenStage, hostile: str) -> None:
    table = WindowedTable(TableView((Column("a", hostile, 30),), (Row(1, (Cell(hostile),)),)))
    async with open_stage(table) as stage:
        assert stage.lines[0].strip() == hostile
        assert stage.lines[1] == f"▸ {hostile}".ljust(80)


@pytest.mark.parametrize("hostile", ["\x1b[31mred", "a\nb", "a\tb", "\x9b2J", "\x07", "a\u2028b"])
async def test_control_characters_cannot_leave_their_cell(open_stage: OpenStage, hostile: str) -> None:
    columns = (Column("a", "a", 12), Column("b", "b", 5))
    table = WindowedTable(TableView(columns, (Row(1, (Cell(hostile), Cell("end"))),)))
    async with open_stage(table) as stage:
        assert stage.lines[1].index("end") == 16
        assert all(character.isprintable() for character in stage.lines[1])


@pytest.mark.parametrize(
    "name", ["plain", "日本語のグループ名がとても長い場合でも", "日本", "🚀 launch", "e\u0301te\u0301", "👩‍👩‍👧 family"]
)
async def test_wide_characters_keep_the_columns_aligned(open_stage: OpenStage, name: str) -> None:
    columns = (Column("name", "name", 17), Column("n", "n", 5, "right"), Column("end", "end", 3))
    rows = (Row(1, (Cell(name), Cell("12"), Cell("end"))), Row(2, (Cell("x"), Cell("3"), Cell("end"))))
    table = WindowedTable(TableView(columns, rows))
    async with open_stage(table) as stage:
        before = [cell_len(line[: line.index("end")]) for line in stage.lines[:3]]
        assert before == [28, 28, 28]
        assert cell_len(stage.lines[1]) == 80
        assert ("…" in stage.lines[1]) is (cell_len(name) > 17)


async def test_sort_arrow_stands_by_its_column(open_stage: OpenStage) -> None:
    table = WindowedTable(TableView(COLUMNS, (row("a"),), sort="health", descending=True))
    async with open_stage(table) as stage:
        assert stage.lines[0].startswith("  health ▼")
        table.update_view(TableView(COLUMNS, (row("a"),), sort="lag"))
        await stage.settle()
        assert "▼" not in stage.lines[0]
        lag = stage.lines[0].index("▲ lag") + len("▲ lag")
        assert stage.lines[1][:lag].endswith(" 0")


async def test_header_stays_when_the_rows_scroll(open_stage: OpenStage) -> None:
    table = WindowedTable(TableView(COLUMNS, tuple(row(f"g-{number}") for number in range(100))))
    async with open_stage(table) as stage:
        header = stage.lines[0]
        await stage.press("end")
        assert stage.lines[0][:79] == header[:79]
        assert "g-99" in stage.lines[23]


async def test_empty_says_so_in_the_middle(open_stage: OpenStage) -> None:
    table = WindowedTable(TableView(COLUMNS, (), empty=(Cell("no group on this server"),)))
    async with open_stage(table) as stage:
        assert stage.lines[12].strip() == "no group on this server"
        left, right = stage.lines[12].split("no group on this server")
        assert abs(len(left) - len(right)) <= 1
        table.update_view(TableView(COLUMNS, (row("a"),)))
        await stage.settle()
        assert "no group" not in stage.text


async def test_cursor_row_is_seen_without_colour(open_stage: OpenStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    table = WindowedTable(TableView(COLUMNS, (row("a"), row("b"))))
    async with open_stage(table):
        on, off = table.render_line(1), table.render_line(2)
        assert on.text.startswith("▸ ")
        assert all(segment.style is not None and segment.style.reverse and segment.style.bold for segment in on)
        assert not any(segment.style is not None and segment.style.reverse for segment in off)


async def test_sample_without_a_cursor(open_stage: OpenStage) -> None:
    table = WindowedTable(TableView(COLUMNS, (row("a"), row("b"))), show_cursor=False)
    async with open_stage(table) as stage:
        assert "▸" not in stage.text
        assert not table.can_focus
