"""Dead letters: what was given up, from where, after how many tries, and why."""

from __future__ import annotations

from collections.abc import Sequence

from echomq_console.model.dead_letter import DeadLetterEntry
from echomq_console.model.text import harmless
from echomq_widgets.views import Cell, Column, Row, TableView

from .names import name_text
from .numbers import ago, count_cell
from .pending import preview

COLUMNS = (
    Column("entry", "original entry", 21),
    Column("group", "group", 12),
    Column("owner", "owner", 12, drop=3),
    Column("attempts", "deliv", 5, "right"),
    Column("moved", "moved", 12, "right", drop=2),
    Column("by", "by", 16, drop=4),
    Column("reason", "reason", 18, flex=True),
    Column("payload", "payload", 30, drop=5),
)


def dead_letters_view(entries: Sequence[DeadLetterEntry], now_ms: int, total: int | None = None) -> TableView:
    """The table of a stream's dead letters."""
    return TableView(
        COLUMNS,
        tuple(_row(entry, now_ms) for entry in entries),
        total=len(entries) if total is None else max(total, len(entries)),
        empty=(Cell("no dead letters", "dim"),),
    )


def _row(entry: DeadLetterEntry, now_ms: int) -> Row:
    said = entry.provenance
    cells = (
        Cell(str(said.entry_id)),
        Cell(name_text(said.group)),
        Cell(name_text(said.consumer)),
        count_cell(said.attempts),
        Cell(ago(now_ms, said.at_ms), "dim"),
        Cell(name_text(said.by), "dim"),
        Cell(harmless(said.reason, 200)),
        Cell(preview(entry.original), "dim"),
    )
    return Row(entry.id, cells)
