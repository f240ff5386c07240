"""The pending list: who holds what, since when, how often it was tried, and what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echomq_console.model.entry import Pairs, StreamEntry, branded_id_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import PendingEntry
from echomq_console.model.text import harmless
from echomq_widgets.views import Cell, Column, Row, TableView

from .names import name_text
from .numbers import age_cell, ago, count_cell

COLUMNS = (
    Column("entry", "entry", 21),
    Column("branded", "branded id", 14, drop=4),
    Column("minted", "minted", 12, "right", drop=3),
    Column("owner", "owner", 14),
    Column("idle", "idle", 8, "right"),
    Column("deliveries", "deliv", 5, "right"),
    Column("payload", "payload", 16, flex=True, drop=2),
)

_MOST_FIELDS = 8
_LEAST = 4


def pending_view(
    rows: Sequence[PendingEntry],
    bodies: Mapping[EntryId, StreamEntry | None],
    now_ms: int,
    total: int,
    offset: int = 0,
    *,
    thresholds: Thresholds | None = None,
) -> TableView:
    """A window of a pending list. `bodies`: entries by id, None where one is gone from the stream (a ghost)."""
    limits = thresholds or Thresholds()
    return TableView(
        COLUMNS,
        tuple(_row(row, bodies, now_ms, limits) for row in rows),
        total=max(total, offset + len(rows)),
        offset=offset,
        empty=(Cell("nothing is pending: everything delivered was acknowledged", "good"),),
    )


def preview(pairs: Pairs, limit: int = 240) -> str:
    """A payload in one line: a single field's value, or `name=value` for several; the branded id left out."""
    rest = [pair for pair in pairs if not (pair[0] == b"id" and branded_id_of((pair,)) is not None)]
    if len(rest) == 1:
        return harmless(rest[0][1], limit)
    text, more = "", len(rest) > _MOST_FIELDS
    for name, value in rest[:_MOST_FIELDS]:
        left = limit - len(text) - len(" =")
        if left < _LEAST:
            more = True
            break
        shown = harmless(name, min(40, left - 1))
        text += f"{' ' if text else ''}{shown}={harmless(value, left - len(shown))}"
    return f"{text} …" if more else text


def _row(row: PendingEntry, bodies: Mapping[EntryId, StreamEntry | None], now_ms: int, thresholds: Thresholds) -> Row:
    body = bodies.get(row.id)
    branded = body.branded_id if body is not None else None
    minted_ms = branded.minted_ms if branded is not None else row.id.ms
    if body is not None:
        payload = Cell(preview(body.pairs))
    else:
        payload = Cell("gone from the stream (a ghost)", "warn") if row.id in bodies else Cell("…", "dim")
    overdue = row.idle_ms >= thresholds.job_ms
    often = row.delivery_count >= thresholds.poison_deliveries
    cells = (
        Cell(str(row.id)),
        Cell(str(branded)) if branded is not None else Cell("–", "dim"),
        Cell(ago(now_ms, minted_ms), "dim"),
        Cell(name_text(row.consumer)),
        age_cell(row.idle_ms, "bad" if overdue else "plain"),
        count_cell(row.delivery_count, "bad" if often else "plain"),
        payload,
    )
    return Row(row.id, cells)
