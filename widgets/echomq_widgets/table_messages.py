"""What a table says to whoever shows it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from echomq_widgets.table import WindowedTable


class TableMessage(Message):
    """Anything a table says; `on(…, "#id")` selects by the table."""

    def __init__(self, table: WindowedTable) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> WindowedTable:
        """The table that says it."""
        return self.table


class RowHighlighted(TableMessage, namespace="windowed_table"):
    """The cursor stands on another key; None where there is no row, or it is not loaded yet."""

    def __init__(self, table: WindowedTable, key: Hashable | None) -> None:
        super().__init__(table)
        self.key = key


class RowSelected(TableMessage, namespace="windowed_table"):
    """Enter or a double click on a row."""

    def __init__(self, table: WindowedTable, key: Hashable) -> None:
        super().__init__(table)
        self.key = key


class WindowWanted(TableMessage, namespace="windowed_table"):
    """The rows from `offset`, `size` of them, are needed."""

    def __init__(self, table: WindowedTable, offset: int, size: int) -> None:
        super().__init__(table)
        self.offset = offset
        self.size = size


class SortWanted(TableMessage, namespace="windowed_table"):
    """The title of a sortable column was clicked."""

    def __init__(self, table: WindowedTable, column_key: str) -> None:
        super().__init__(table)
        self.column_key = column_key


class MarksChanged(TableMessage, namespace="windowed_table"):
    """Other keys are marked than before."""

    def __init__(self, table: WindowedTable, marked: frozenset[Hashable]) -> None:
        super().__init__(table)
        self.marked = marked
