"""One look at a server: as many polls as it takes to have seen everything once, within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import CannotTell

if TYPE_CHECKING:
    from echomq_console.model.finding import Thresholds
    from echomq_console.model.snapshot import Snapshot
    from echomq_console.server.wire import Wire

MOST_POLLS = 50
"""A poll looks at a thousand rows of a pending list: longer ones are looked at in part, and the figures say so."""


async def look(wire: Wire, thresholds: Thresholds, *, streams: Sequence[bytes] | None = None) -> Snapshot:
    """Poll until every group was looked at and every pending list counted through, 50 times at most."""
    from echomq_console.observe.observer import Observer

    observer = Observer(wire, thresholds, streams=streams)
    snapshot = await observer.tick()
    for _ in range(MOST_POLLS - 1):
        if _is_all_seen(snapshot):
            break
        snapshot = await observer.tick()
    return snapshot


async def look_at_group(wire: Wire, thresholds: Thresholds, stream: bytes, group: bytes) -> Snapshot:
    """Look at one stream that must have the group. Raises NoKey, WrongType, NoGroup, or what was refused."""
    from echomq_console.observe.look import require_group

    await require_group(wire, stream, group)
    snapshot = await look(wire, thresholds, streams=(stream,))
    if snapshot.group(stream, group) is None:
        raise CannotTell(_why_not(snapshot))
    return snapshot


async def look_at_stream(wire: Wire, thresholds: Thresholds, stream: bytes) -> Snapshot:
    """Look at one stream that must be there. Raises CannotTell."""
    snapshot = await look(wire, thresholds, streams=(stream,))
    if snapshot.stream(stream) is None:
        raise CannotTell(_why_not(snapshot))
    return snapshot


async def look_at_server(wire: Wire, thresholds: Thresholds) -> Snapshot:
    """Ask only who the server is and what its clock says."""
    return await look(wire, thresholds, streams=())


def _is_all_seen(snapshot: Snapshot) -> bool:
    from echomq_console.observe.memory import NOT_YET

    return snapshot.complete and all(
        group.problem != NOT_YET and (group.problem is not None or group.scan is None or group.scan.complete)
        for _, group in snapshot.groups()
    )


def _why_not(snapshot: Snapshot) -> str:
    return snapshot.problems[-1] if snapshot.problems else "it was gone before it could be looked at"
