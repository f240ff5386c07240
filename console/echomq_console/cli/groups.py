"""`groups`: every group of the server, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .aim import Aim, aim_of, connected, later
from .options import JobTimeOption, JsonOption, UrlOption, Work

if TYPE_CHECKING:
    from echomq_widgets.views import TableView

_OVER_TIME = ("in", "acked", "trend")
"""Columns that need more than one look."""


def groups(
    ctx: typer.Context, url: UrlOption = None, job_time: JobTimeOption = None, as_json: JsonOption = False
) -> Work:
    """List every consumer group, worst first.

    One look: rates need two, and are not shown; whether a lag grows, and for how long nobody has read from a group
    without consumers, one look cannot tell. Of very long pending lists the first 50,000 rows are counted.
    """
    return later(_list, aim_of(ctx.obj, url, job_time), as_json)


async def _list(aim: Aim, as_json: bool) -> int:
    from echomq_console.diagnosis import diagnose
    from echomq_console.present.documents import groups_document
    from echomq_console.present.groups import groups_view, summary_line

    from .looking import look
    from .notes import print_notes
    from .printing import Printer

    async with connected(aim) as wire:
        snapshot = await look(wire, aim.thresholds)
    findings = diagnose(snapshot, (), aim.thresholds)
    printer = Printer()
    if as_json:
        printer.json(groups_document(snapshot, findings))
        return 0
    printer.line(summary_line(snapshot, findings))
    printer.table(_as_typed(groups_view(snapshot, findings, thresholds=aim.thresholds)))
    print_notes(snapshot)
    return 0


def _as_typed(view: TableView) -> TableView:
    """Name stream and group as the other commands take them, and leave out what one look cannot tell."""
    from echomq_console.model.text import harmless
    from echomq_widgets.views import Cell, Column, Row, TableView

    kept = [i for i, column in enumerate(view.columns) if column.key not in (*_OVER_TIME, "group")]
    names = (Column("stream", "stream", 22, flex=True), Column("group", "group", 16))
    rows = []
    for row in view.rows:
        assert isinstance(row.key, tuple)
        stream, group = (Cell(harmless(name), bold=row.cells[0].bold) for name in row.key)
        first, *rest = (row.cells[i] for i in kept)
        rows.append(Row(row.key, (first, stream, group, *rest)))
    first_column, *columns = (view.columns[i] for i in kept)
    return TableView((first_column, *names, *columns), tuple(rows), empty=view.empty)
