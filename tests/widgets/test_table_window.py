"""A table over a million rows holds a few hundred, draws only what changed, and keeps its marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from echomq_widgets.table import WindowedTable
from echomq_widgets.table_paint import Look, RowPainter
from echomq_widgets.views import Cell, Column, Row, TableView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage
    from textual.strip import Strip

MILLION = 1_000_000
COLUMNS = (Column("entry", "entry", 12), Column("idle", "idle", 8, "right", flex=True))


def window(offset: int, size: int, *, total: int = MILLION, idle: int = 0) -> TableView:
    rows = (Row(number, (Cell(f"entry-{number}"), Cell(f"{idle}s"))) for number in range(offset, offset + size))
    return TableView(COLUMNS, tuple(rows), total=total, offset=offset)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[Look]:
    """Every look that was really drawn."""
    looks: list[Look] = []
    paint = RowPainter.paint

    def counting(self: RowPainter, look: Look) -> Strip:
        looks.append(look)
        return paint(self, look)

    monkeypatch.setattr(RowPainter, "paint", counting)
    return looks


async def test_a_million_rows_are_asked_for_window_by_window(open_stage: OpenStage) -> None:
    table = WindowedTable(window(0, 300))
    async with open_stage(table) as stage:
        assert stage.heard(WindowedTable.WindowWanted) == []
        await stage.press("end")
        assert (table.cursor_position, table.cursor_key) == (MILLION - 1, None)
        assert table.render_line(23).text.split() == ["▸", "…", "…"]
        wanted = stage.heard(WindowedTable.WindowWanted)
        assert [(one.offset, one.size) for one in wanted] == [(MILLION - 200, 200)]

        table.update_view(window(wanted[0].offset, wanted[0].size))
        await stage.settle()
        assert table.cursor_key == MILLION - 1
        assert table.render_line(23).text.split() == ["▸", f"entry-{MILLION - 1}", "0s"]
        assert stage.heard(WindowedTable.RowHighlighted)[-1].key == MILLION - 1
        assert len(stage.heard(WindowedTable.WindowWanted)) == 1


async def test_a_window_is_asked_for_once_and_before_its_edge_is_seen(open_stage: OpenStage) -> None:
    table = WindowedTable(window(0, 100))
    async with open_stage(table) as stage:
        table.scroll_to(y=60, animate=False)
        await stage.settle()
        assert "…" not in stage.text
        table.update_view(window(0, 100, idle=1))
        table.scroll_to(y=62, animate=False)
        await stage.settle()
        assert len(stage.heard(WindowedTable.WindowWanted)) == 1
        table.scroll_to(y=500_000, animate=False)
        await stage.settle()
        wanted = stage.heard(WindowedTable.WindowWanted)
        assert len(wanted) == 2
        assert wanted[1].offset <= 500_000
        assert wanted[1].offset + wanted[1].size >= 500_023


async def test_cursor_keeps_its_key_while_the_window_is_elsewhere(open_stage: OpenStage) -> None:
    table = WindowedTable(window(0, 300))
    async with open_stage(table) as stage:
        await stage.press("down", "down")
        table.scroll_to(y=500_000, animate=False)
        table.update_view(window(499_900, 300))
        await stage.settle()
        assert table.cursor_key == 2
        assert "entry-500000" in table.render_line(1).text


async def test_only_changed_rows_are_drawn_again(open_stage: OpenStage, painted: list[Look]) -> None:
    rows = list(window(0, 50, total=50).rows)
    table = WindowedTable(TableView(COLUMNS, tuple(rows)))
    async with open_stage(table) as stage:
        assert len(painted) >= 23
        painted.clear()
        table.update_view(TableView(COLUMNS, tuple(rows)))
        await stage.settle()
        assert painted == []
        rows[5] = Row(5, (Cell("entry-5"), Cell("99s", "bad")))
        rows[45] = Row(45, (Cell("entry-45"), Cell("out of sight")))
        table.update_view(TableView(COLUMNS, tuple(rows)))
        await stage.settle()
        assert [look[0] for look in painted] == [rows[5].cells]
        assert "99s" in stage.lines[6]


async def test_only_changed_lines_are_put_on_the_screen_again(
    open_stage: OpenStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(window(0, 50, total=50).rows)
    table = WindowedTable(TableView(COLUMNS, tuple(rows)))
    async with open_stage(table) as stage:
        lines: list[int] = []
        render_line = table.render_line

        def counting(y: int) -> Strip:
            lines.append(y)
            return render_line(y)

        monkeypatch.setattr(table, "render_line", counting)
        rows[5] = Row(5, (Cell("entry-5"), Cell("99s")))
        table.update_view(TableView(COLUMNS, tuple(rows)))
        await stage.settle()
        assert lines == [6]
        lines.clear()
        await stage.press("down")
        assert sorted(lines) == [1, 2]


async def test_scrolling_back_draws_nothing_again(open_stage: OpenStage, painted: list[Look]) -> None:
    table = WindowedTable(window(0, 300))
    async with open_stage(table) as stage:
        table.scroll_to(y=100, animate=False)
        await stage.settle()
        painted.clear()
        table.scroll_to(y=0, animate=False)
        await stage.settle()
        assert painted == []


async def test_another_theme_draws_everything_again(open_stage: OpenStage, painted: list[Look]) -> None:
    table = WindowedTable(window(0, 300))
    async with open_stage(table) as stage:
        dark = table.render_line(5)
        painted.clear()
        stage.app.theme = "textual-light"
        await stage.settle()
        assert len(painted) >= 23
        assert table.render_line(5).text == dark.text
        assert table.render_line(5) != dark


async def test_marks(open_stage: OpenStage) -> None:
    table = WindowedTable(window(0, 10, total=10), markable=True)
    async with open_stage(table) as stage:
        await stage.press("down", "space", "down", "space")
        assert table.marked == {1, 2}
        assert table.render_line(2).text.startswith(" ✓ entry-1")
        assert table.render_line(3).text.startswith("▸✓ entry-2")
        await stage.press("space")
        assert table.marked == {1}
        table.update_view(window(0, 10, total=10, idle=7))
        await stage.settle()
        assert stage.lines[2].startswith(" ✓ entry-1")
        table.mark_all([5, 6])
        assert table.marked == {1, 5, 6}
        table.unmark([6])
        table.clear_marks()
        table.clear_marks()
        await stage.settle()
        assert "✓" not in stage.text
        told = [set(message.marked) for message in stage.heard(WindowedTable.MarksChanged)]
        assert told == [{1}, {1, 2}, {1}, {1, 5, 6}, {1, 5}, set()]


async def test_no_marks_where_nothing_can_be_marked(open_stage: OpenStage) -> None:
    table = WindowedTable(window(0, 10, total=10))
    async with open_stage(table) as stage:
        await stage.press("space")
        assert table.marked == frozenset()
        assert stage.heard(WindowedTable.MarksChanged) == []


async def test_rows_before_the_app_runs_and_updates_from_outside(open_stage: OpenStage) -> None:
    table = WindowedTable(markable=True)
    table.update_view(window(0, 10, total=10))
    table.move_cursor_to(4)
    table.mark_all([1])
    async with open_stage(table) as stage:
        assert table.cursor_key == 4
        assert stage.lines[5].startswith("▸  entry-4")
