"""Recovery after a lost answer: what the server gave us and we never saw."""

from __future__ import annotations

import logging

from echomq_console.model.entry_id import ZERO, EntryId

from .events import Claimed
from .place import Row
from .session import Session

_log = logging.getLogger(__name__)

_PAGE = 1000


async def find_unseen(session: Session) -> list[Row]:
    """Find rows under our own name that are neither in hand nor waiting for the beat, and put them in hand.

    Only while no read is under way: else what it is bringing would look unseen. Raises a ServerError.
    """
    place, hold = session.place, session.hold
    end = await place.greatest_pending()
    unseen: list[Row] = []
    cursor = ZERO
    while end is not None:
        page = await place.look(cursor, end, _PAGE)
        if not page:
            break
        cursor = EntryId.parse(page[-1].id)
        unseen += [row for row in page if hold.is_free(row.id)]
    hold.held.update(row.id for row in unseen)
    if unseen:
        _log.warning("recovered %d entries whose delivery was lost on the way", len(unseen))
        if session.emit is not None:
            session.emit(Claimed(tuple(row.id.decode() for row in unseen), "recovery"))
    return unseen
