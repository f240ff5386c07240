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

    A first delivery past what was read before was counted by the read whose answer was lost, and never began. Anything
    else was claimed, which counts nothing.
    """
    place, hold = session.place, session.hold
    end = await place.greatest_pending()
    unseen: list[Row] = []
    elsewhere = set(hold.unsure)
    cursor = ZERO
    while end is not None:
        page = await place.look(cursor, end, _PAGE)
        if not page:
            break
        cursor = EntryId.parse(page[-1].id)
        unseen += [row for row in page if hold.is_free(row.id)]
        elsewhere.difference_update(row.id for row in page)
    for entry_id in elsewhere:
        hold.unsure.pop(entry_id, None)
    hold.held.update(row.id for row in unseen)
    for row in unseen:
        if row.deliveries == 1 and EntryId.parse(row.id) > hold.read_to:
            hold.unsure.setdefault(row.id, 1)
    hold.read_to = max(hold.read_to, end or ZERO)
    if unseen:
        _log.warning("recovered %d entries whose delivery was lost on the way", len(unseen))
        if session.emit is not None:
            session.emit(Claimed(tuple(row.id.decode() for row in unseen), "recovery"))
    return unseen
