"""The drain: the recovery of oneself. One pass over one's own pending list, to its end."""

from __future__ import annotations

import asyncio
import time

from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.server.address import Address
from echomq_console.server.wire import Client

from .door import check_permissions
from .events import Listener
from .handlers import Handler
from .place import Place
from .report import Report
from .session import Session, connected, until_stopped
from .slices import Taker
from .verdict import DeadLetter


async def drain(
    client: Address | Client,
    *,
    stream: str | bytes,
    group: str | bytes,
    name: str | bytes,
    handler: Handler,
    min_idle: float = 0.0,
    dead_letter: DeadLetter | None = None,
    listener: Listener | None = None,
    count: int = 100,
    concurrency: int = 1,
    timeout: float | None = None,
    stop: asyncio.Event | None = None,
    limit: int | None = None,
) -> Report:
    """Handle the pending entries of one consumer, each once, in the order of their ids.

    `min_idle` (seconds): only what has been idle that long; 0 takes everything, and is for a consumer of which no
    process runs. `count`: rows per look. `timeout`: seconds for one handler call. `stop`: when set, what runs is
    settled, the rest given back. `limit`: begin at most so many entries.

    Raises NoKey, NoGroup or NoConsumer for a name the server does not know, and any other ServerError. Nothing is
    created.
    """
    async with connected(client, stream, group, name, "drain") as place:
        await place.must_exist(consumer=True)
        await check_permissions(place, beat=False, dead_letter=dead_letter is not None, read=False)
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
        taker = Taker(
            place,
            session.hold,
            session.hands,
            session.settle,
            dead_letter,
            stopping=stop.is_set if stop is not None else bool,
            limit=limit,
        )
        with until_stopped(session, stop):
            async with session.at_work():
                await one_pass(place, session, taker, count=count, min_idle_ms=round(min_idle * 1000))
        session.report.seconds = time.monotonic() - began
        return session.report


async def one_pass(place: Place, session: Session, taker: Taker, *, count: int, min_idle_ms: int = 0) -> None:
    """Go over one's own rows once, from the first to what was the last when the pass began."""
    end = await place.greatest_pending()
    session.hold.read_to = end or ZERO  # this process has read nothing yet
    cursor = ZERO
    while end is not None and not taker.full and not session.hands.closing:
        rows = await place.look(cursor, end, count, min_idle_ms)
        if not rows:
            return
        cursor = EntryId.parse(rows[-1].id)
        await taker.take([row for row in rows if session.hold.is_free(row.id)], least_idle_ms=min_idle_ms)
