"""`pending`: the rows of a group's pending list, with what is in them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .aim import Aim, aim_of, connected, later
from .options import (
    GroupArgument,
    JobTimeOption,
    JsonOption,
    StreamArgument,
    UrlOption,
    Work,
    read_duration,
)

if TYPE_CHECKING:
    from echomq_console.model.entry import StreamEntry
    from echomq_console.model.entry_id import EntryId
    from echomq_console.model.snapshot import PendingEntry
    from echomq_console.server.wire import Wire

_BODIES_A_TRIP = 50


@dataclass(frozen=True, slots=True)
class _Wanted:
    stream: bytes
    group: bytes
    consumer: bytes | None
    min_idle_ms: int
    limit: int


def pending(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    *,
    consumer: Annotated[str | None, typer.Option("--consumer", metavar="NAME", help="Only what NAME holds.")] = None,
    min_idle: Annotated[
        str | None, typer.Option("--min-idle", metavar="DURATION", help="Only rows idle for at least so long.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most N rows, lowest ids first.")] = 100,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    as_json: JsonOption = False,
) -> Work:
    """List pending entries: who holds each, for how long, how often it was delivered, and its payload.

    Looking changes nothing: no delivery is counted, no idle time reset.
    """
    wanted = _Wanted(
        stream=os.fsencode(stream),
        group=os.fsencode(group),
        consumer=None if consumer is None else os.fsencode(consumer),
        min_idle_ms=0 if min_idle is None else read_duration(min_idle, "--min-idle"),
        limit=limit,
    )
    return later(_list, aim_of(ctx.obj, url, job_time), wanted, as_json)


async def _list(aim: Aim, wanted: _Wanted, as_json: bool) -> int:
    from echomq_console.observe.look import require_consumer
    from echomq_console.present.documents import pending_document
    from echomq_console.present.pending import pending_view

    from .looking import look_at_group
    from .notes import print_notes
    from .printing import Printer

    async with connected(aim) as wire:
        snapshot = await look_at_group(wire, aim.thresholds, wanted.stream, wanted.group)
        if wanted.consumer is not None:
            await require_consumer(wire, wanted.stream, wanted.group, wanted.consumer)
        rows, complete = await _rows(wire, wanted)
        bodies = await _bodies(wire, wanted.stream, rows)
    group = snapshot.group(wanted.stream, wanted.group)
    assert group is not None
    printer = Printer()
    if as_json:
        printer.json(pending_document(snapshot, group, rows, bodies, complete=complete))
        return 0
    total = max(group.pending, len(rows))
    printer.table(pending_view(rows, bodies, snapshot.taken_at_ms, total, thresholds=aim.thresholds))
    if not complete:
        printer.say(f"… and more: --limit {wanted.limit} was reached ({total:,} pending in the group)", "dim")
    print_notes(snapshot)
    return 0


async def _rows(wire: Wire, wanted: _Wanted) -> tuple[list[PendingEntry], bool]:
    """Page through the list until enough rows were found; also says whether these are all there are."""
    from echomq_console.actions.rows import pending_rows

    found: list[PendingEntry] = []
    pages = pending_rows(
        wire, wanted.stream, wanted.group, consumer=wanted.consumer, min_idle_ms=wanted.min_idle_ms or None
    )
    async for page in pages:
        found += [row for row in page if row.idle_ms >= wanted.min_idle_ms]
        if len(found) > wanted.limit:
            break
    return found[: wanted.limit], len(found) <= wanted.limit


async def _bodies(wire: Wire, stream: bytes, rows: list[PendingEntry]) -> dict[EntryId, StreamEntry | None]:
    """Read the entries of rows; None where one is gone from the stream. Nothing where reading them is denied."""
    from echomq_console.server import commands
    from echomq_console.server.errors import ServerError

    bodies: dict[EntryId, StreamEntry | None] = {}
    for at in range(0, len(rows), _BODIES_A_TRIP):
        part = rows[at : at + _BODIES_A_TRIP]
        looks = [commands.entries_between(stream, start=row.id, end=row.id, count=1) for row in part]
        for row, entries in zip(part, await wire.ask_all(looks), strict=True):
            if not isinstance(entries, ServerError):
                bodies[row.id] = entries[0] if entries else None
    return bodies
