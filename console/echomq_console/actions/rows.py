"""Looking at pending rows for a plan: in pages, cheaply, changing nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence

from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.model.snapshot import PendingEntry
from echomq_console.server import commands
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

PAGE = 1000
"""Rows a look asks for at once: a page costs the server about half a millisecond (seen on half a million rows)."""


async def pending_rows(
    wire: Wire,
    stream: bytes,
    group: bytes,
    *,
    consumer: bytes | None = None,
    min_idle_ms: int | None = None,
    start: EntryId = ZERO,
    most: int | None = None,
) -> AsyncIterator[tuple[PendingEntry, ...]]:
    """Page through a pending list, ascending by id, from `start` on, `most` rows or all.

    The idle filter goes to the server only together with a consumer; over a whole group it would cost the server
    hundreds of milliseconds (seen on half a million rows), so there the rows are looked at here.
    """
    while True:
        wanted = PAGE if most is None else min(PAGE, most)
        page = await wire.ask(
            commands.pending_range(
                stream,
                group,
                start=start,
                count=wanted,
                consumer=consumer,
                min_idle_ms=min_idle_ms if consumer is not None else None,
            )
        )
        if page:
            yield page
        if most is not None:
            most -= len(page)
        if len(page) < wanted or most == 0:
            return
        start = page[-1].id.successor()


async def rows_of_ids(
    wire: Wire, stream: bytes, group: bytes, ids: Sequence[EntryId]
) -> tuple[tuple[PendingEntry, ...], tuple[EntryId, ...]]:
    """Look up single rows: those that are pending, and the ids that are not."""
    found: list[PendingEntry] = []
    missing: list[EntryId] = []
    for at in range(0, len(ids), PAGE // 2):
        part = ids[at : at + PAGE // 2]
        looks = [commands.pending_range(stream, group, start=i, end=i, count=1) for i in part]
        for entry_id, rows in zip(part, await wire.ask_all(looks), strict=True):
            if isinstance(rows, ServerError):
                raise rows
            found.extend(rows)
            if not rows:
                missing.append(entry_id)
    return tuple(found), tuple(missing)


def count_owners(rows: Sequence[PendingEntry]) -> dict[bytes, int]:
    """How many rows each consumer owns, most first."""
    return dict(Counter(row.consumer for row in rows).most_common())
