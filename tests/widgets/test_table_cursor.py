"""The cursor stays on its key and on its line, whatever the rows do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from echomq_widgets.table import WindowedTable
from echomq_widgets.views import Cell, Column, Row, TableView

if TYPE_CHECKING:
    from tests.widgets.conftest import OpenStage

COLUMNS = (Column("name", "name", 10, flex=True, sortable=True), Column("size", "size", 8, "right"))


def view(keys: Sequence[str], *, offset: int = 0, total: int = -1) -> TableView:
    return TableView(COLUMNS, tuple(Row(key, (Cell(key), Cell("1"))) for key in keys), total=total, offset=offset)


def names(count: int) -> list[str]:
    return [f"row-{number:03}" for number in range(count)]


def cursor_line(table: WindowedTable) -> int:
    found = [y for y in range(1, table.size.height) if table.render_line(y).text.startswith("▸")]
    assert len(found) == 1
    return found[0]


async def test_first_row_is_highlighted_at_the_start(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(3)))
    async with open_stage(table) as stage:
        assert table.cursor_key == "row-000"
        assert [message.key for message in stage.heard(WindowedTable.RowHighlighted)] == ["row-000"]


async def test_keys_move_the_cursor(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        places = []
        for key in ("down", "j", "up", "k", "end", "pageup", "home", "pagedown"):
            await stage.press(key)
            places.append(table.cursor_position)
        assert places == [1, 2, 1, 0, 99, 90, 0, 9]
        assert table.render_line(10).text.startswith("▸ row-009") or cursor_line(table) > 0


async def test_cursor_is_always_in_sight(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        for key in ("end", "pageup", "pageup", "up", "home", "pagedown", *["down"] * 15):
            await stage.press(key)
            assert table.render_line(cursor_line(table)).text.split()[1] == table.cursor_key


async def test_cursor_keeps_key_and_line_when_rows_come_in_above(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        table.move_cursor_to("row-050")
        await stage.press("up", "up", "up")
        line = cursor_line(table)
        table.update_view(view([f"new-{number}" for number in range(7)] + names(100)))
        await stage.settle()
        assert table.cursor_key == "row-047"
        assert table.cursor_position == 54
        assert cursor_line(table) == line
        assert len(stage.heard(WindowedTable.RowHighlighted)) == 5


async def test_cursor_follows_a_row_that_is_sorted_elsewhere(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        await stage.press("down", "down")
        table.update_view(view(list(reversed(names(100)))))
        await stage.settle()
        assert (table.cursor_key, table.cursor_position) == ("row-002", 97)
        assert cursor_line(table) > 0


async def test_vanished_row_leaves_the_cursor_at_its_position(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(10)))
    async with open_stage(table) as stage:
        await stage.press(*["down"] * 4)
        table.update_view(view([name for name in names(10) if name != "row-004"]))
        await stage.settle()
        assert (table.cursor_key, table.cursor_position) == ("row-005", 4)
        table.update_view(view(names(3)))
        await stage.settle()
        assert (table.cursor_key, table.cursor_position) == ("row-002", 2)
        table.update_view(view([]))
        await stage.settle()
        assert table.cursor_key is None
        assert stage.heard(WindowedTable.RowHighlighted)[-1].key is None
        table.update_view(view(names(3)))
        assert table.cursor_key == "row-000"


async def test_a_much_shorter_list_is_in_sight_at_once(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        await stage.press("end")
        table.update_view(view(["a", "b", "c"]))
        assert table.scroll_offset.y == 0
        await stage.settle()
        assert [line.split()[-2] for line in stage.lines[1:4]] == ["a", "b", "c"]
        assert table.cursor_key == "c"


async def test_scrolled_rows_stay_where_they_are_when_the_cursor_is_out_of_sight(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        table.scroll_to(y=40, animate=False)
        await stage.settle()
        assert "row-040" in table.render_line(1).text
        table.update_view(view(["new-0", "new-1", *names(100)]))
        await stage.settle()
        assert "row-040" in table.render_line(1).text
        assert table.cursor_key == "row-000"


async def test_refresh_of_the_same_rows_does_not_scroll(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        await stage.press("end", "up", "up")
        before = stage.lines
        table.update_view(view(names(100)))
        await stage.settle()
        assert stage.lines == before


async def test_move_cursor_to_a_key(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 11)) as stage:
        assert table.move_cursor_to("row-070")
        assert not table.move_cursor_to("nobody")
        await stage.settle()
        assert table.cursor_key == "row-070"
        assert "row-070" in table.render_line(cursor_line(table)).text


async def test_enter_and_double_click_select(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(10)))
    async with open_stage(table) as stage:
        await stage.press("down", "enter")
        await stage.press("down", "down")
        await stage.pilot.click(table, offset=(5, 4))
        await stage.settle()
        assert table.cursor_key == "row-003"
        assert [message.key for message in stage.heard(WindowedTable.RowSelected)] == ["row-001"]
        await stage.pilot.double_click(table, offset=(5, 6))
        await stage.settle()
        assert [message.key for message in stage.heard(WindowedTable.RowSelected)] == ["row-001", "row-005"]


async def test_enter_on_nothing_selects_nothing(open_stage: OpenStage) -> None:
    async with open_stage(WindowedTable(view([]))) as stage:
        await stage.press("enter", "down", "pagedown", "end", "space")
        assert stage.heard(WindowedTable.RowSelected) == []


async def test_click_on_a_sortable_title_asks_to_sort(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(3)))
    async with open_stage(table) as stage:
        await stage.pilot.click(table, offset=(4, 0))
        await stage.pilot.click(table, offset=(76, 0))
        await stage.settle()
        assert [message.column_key for message in stage.heard(WindowedTable.SortWanted)] == ["name"]
        assert table.cursor_key == "row-000"


async def test_a_smaller_terminal_keeps_the_cursor_in_sight(open_stage: OpenStage) -> None:
    table = WindowedTable(view(names(100)))
    async with open_stage(table, (80, 24)) as stage:
        await stage.press(*["down"] * 20)
        await stage.pilot.resize_terminal(80, 10)
        await stage.settle()
        assert cursor_line(table) == 9
