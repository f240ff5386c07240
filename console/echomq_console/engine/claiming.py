"""The autoclaim: one step of the recovery of peers, which the beat repeats."""

from __future__ import annotations

import asyncio
import time

from echomq_console.model.entry_id import EntryId
from echomq_console.server.address import Address
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Client

from .door import check_permissions
from .events import Claimed, Ghost, Listener
from .handlers import Handler
from .place import Claim, Place, Row
from .report import Report
from .session import Session, connected, until_stopped
from .slices import Taker
from .verdict import DeadLetter


async def autoclaim(
    client: Address | Client,
    *,
    stream: str | bytes,
    group: str | bytes,
    name: str | bytes,
    min_idle: float,
    handler: Handler,
    cursor: str | bytes | EntryId = "0-0",
    dead_letter: DeadLetter | None = None,
    listener: Listener | None = None,
    count: int = 100,
    concurrency: int = 1,
    timeout: float | None = None,
    stop: asyncio.Event | None = None,
) -> Report:
    """Claim what has been idle for `min_idle` seconds with one XAUTOCLAIM from `cursor`, and handle it.

    The server looks at `count` x 10 rows and claims at most `count` of them; the report's `cursor` says where to go
    on ("0-0": the round is complete), also where nothing was found. `timeout`: seconds for one handler call. `stop`:
    when set, what runs is settled, the rest given back.

    Raises NoKey or NoGroup for a name the server does not know, and any other ServerError. Makes no stream or group.
    """
    async with connected(client, stream, group, name, "autoclaim") as place:
        await place.must_exist()
        await check_permissions(place, beat=True, dead_letter=dead_letter is not None, read=False)
        began = time.monotonic()
        session = Session(
            place,
            handler,
            min_idle=min_idle,
            dead_letter=dead_letter,
            listener=listener,
            concurrency=concurrency,
            timeout=timeout,
            exact=True,
        )
        stopping = stop.is_set if stop is not None else bool
        taker = Taker(place, session.hold, session.hands, session.settle, dead_letter, stopping=stopping)
        with until_stopped(session, stop):
            async with session.at_work():
                start = cursor.encode() if isinstance(cursor, str) else bytes(cursor)
                claim = await place.autoclaim(start, round(min_idle * 1000), count)
                session.report.cursor = claim.cursor.decode()
                await take_claimed(session, taker, claim, "autoclaim")
        session.report.seconds = time.monotonic() - began
        return session.report


async def take_claimed(session: Session, taker: Taker, claim: Claim, how: str) -> int:
    """Handle what a claim gave, ghosts named, what is in hand left alone; returns how many entries it found."""
    hold, emit, place = session.hold, session.emit, session.place
    for ghost in claim.deleted:  # 7.0+: the server has taken them off already, whoever owned them
        session.report.add("deleted", ghost)
        if emit is not None:
            emit(Ghost(ghost.decode()))
    free = []
    for entry_id in claim.ids:
        if entry_id in hold.held:
            hold.lost.discard(entry_id)  # it runs here, and is ours again
        elif (failure := hold.failed.get(entry_id)) is None or failure.not_before <= session.now():
            free.append(entry_id)
    hold.held.update(free)
    try:
        if free:
            if emit is not None:
                emit(Claimed(tuple(i.decode() for i in free), how))
            rows = await look_at_claimed(place, free)
            hold.drop_all(set(free) - {row.id for row in rows})
            await taker.take(rows)
    except ServerError:
        # Out of hand, so that a recovery finds them; a cancellation leaves them in hand, to be given back.
        dropped = [i for i in free if not session.hands.has(i)]
        hold.drop_all(dropped)
        for entry_id in dropped:
            hold.unsure.setdefault(entry_id, -1)
        raise
    return len(free) + len(claim.deleted)


async def look_at_claimed(place: Place, ids: list[bytes]) -> list[Row]:
    """Look up the counts of what was just claimed, a batch in one round trip."""
    return [row for row in await place.look_at(ids) if row.owner == place.name]
