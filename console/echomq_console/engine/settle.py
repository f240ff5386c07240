"""Settling: acknowledgements in batches, and moves to the dead letters."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from echomq_console.server.errors import CommandError, Denied, NoGroup, ServerError, one_line

from .events import Acknowledged, DeadLettered, DeadLetterFailed, Event, Ghost, Lost
from .hold import Failure, Hold
from .place import Fate, Place, Row
from .report import Report

_log = logging.getLogger(__name__)


class Settle:
    """What is done and not yet acknowledged, and how it leaves the pending list.

    `exact`: each acknowledgement has its own answer, so a report can say which were settled elsewhere; else a batch is
    one command with one number.
    """

    def __init__(
        self,
        place: Place,
        hold: Hold,
        report: Report,
        emit: Callable[[Event], None] | None,
        *,
        exact: bool,
        retry_after: Callable[[], float],
    ) -> None:
        self._place = place
        self._hold = hold
        self._report = report
        self._emit = emit
        self._exact = exact
        self._retry_after = retry_after
        self._lock = asyncio.Lock()
        self.acks: list[bytes] = []
        self._leaving: list[list[bytes]] = []
        self.wanted = asyncio.Event()
        """Set when acknowledgements should leave soon."""

    def take(self) -> list[bytes]:
        """Take all acknowledgements that wait, to send them; then `done` or `back`."""
        ids = self.acks[:]
        self.acks.clear()  # the same list all along: the handler loops keep a reference to it
        if ids:
            self._leaving.append(ids)
        return ids

    def back(self, ids: list[bytes]) -> None:
        """Put acknowledgements back whose answer was lost: sending them again is harmless."""
        self._left(ids)
        self.acks[:0] = ids
        self.wanted.set()

    def done(self, ids: list[bytes], still_pending: int) -> None:
        """Note a batch the server has acknowledged; fewer than sent means: somebody had settled the others."""
        self._left(ids)
        self._hold.drop_all(ids)
        self._report.acknowledged += len(ids)
        if self._emit is not None:
            self._emit(Acknowledged(tuple(i.decode() for i in ids), len(ids) - still_pending))

    def has(self, entry_id: bytes) -> bool:
        """Whether an entry is done, and its acknowledgement waits or is on its way."""
        return entry_id in self.acks or any(entry_id in ids for ids in self._leaving)

    def _left(self, ids: list[bytes]) -> None:
        self._leaving[:] = [each for each in self._leaving if each is not ids]

    async def flush(self, *, deadline: float | None = None) -> None:
        """Acknowledge all that waits, and return when the server has. Raises a ServerError, and keeps them then."""
        async with self._lock:
            ids = self.take()
            if not ids:
                return
            try:
                if self._exact:
                    await self._one_by_one(ids)
                else:
                    self.done(ids, await self._place.acknowledge(ids, deadline=deadline))
            except BaseException:
                self.back(ids)
                raise

    async def _one_by_one(self, ids: list[bytes]) -> None:
        place = self._place
        answers = await place.wire.pipeline([("XACK", place.stream, place.group, i) for i in ids])
        for answer in answers:
            if isinstance(answer, ServerError):
                raise answer
        self.done(ids, sum(answers))
        for entry_id in ids:
            self._report.ids["acknowledged"].append(entry_id.decode())

    async def dead_letter(self, rows: Sequence[Row], reason: str, by: bytes) -> None:
        """Move entries in hand to the dead letters; what cannot be moved stays pending, loudly.

        Raises a ServerError that concerns more than these entries (a lost connection, a lost group).
        """
        left = list(rows)
        while left:
            try:
                fates = await self._place.dead_letter(left[:100], reason=reason, by=by)
            except NoGroup:
                raise
            except (CommandError, Denied) as error:
                for row in left:
                    self._not_moved(row.id, reason, str(error))
                return
            left = left[100:]
            for fate in fates:
                if fate.word == "later":
                    left.append(fate.row)
                else:
                    await self._after_move(fate, reason)

    async def _after_move(self, fate: Fate, reason: str) -> None:
        entry_id = fate.row.id
        if fate.word == "dead":
            self._hold.drop(entry_id)
            self._hold.failed.pop(entry_id, None)
            self._report.add("dead_lettered", entry_id, reason)
            dead_id, _, count = fate.rest
            self._say(DeadLettered(entry_id.decode(), _text(dead_id), int(str(count)), reason))
        elif fate.word == "ghost":
            await self.retire([entry_id])
        elif fate.word in ("gone", "moved"):
            self.lose(entry_id)
        else:
            self._not_moved(entry_id, reason, refusal(fate))

    def _not_moved(self, entry_id: bytes, reason: str, problem: str) -> None:
        _log.error("the entry %s stays pending: it cannot go to the dead letters: %s", entry_id.decode(), problem)
        self._report.add("failed", entry_id, f"not dead-lettered: {problem}")
        self._hold.fail(entry_id, Failure(self._retry_after(), reason, doomed=reason))
        self._say(DeadLetterFailed(entry_id.decode(), reason, problem))

    async def retire(self, ids: Sequence[bytes]) -> None:
        """Take ghosts off the list: named first, then acknowledged by a script that looks once more."""
        for entry_id in ids:
            _log.warning("the entry %s is pending but was deleted from the stream", entry_id.decode())
            self._say(Ghost(entry_id.decode()))
        retired = set(await self._place.retire(ids))
        for entry_id in ids:
            self._hold.drop(entry_id)
            self._hold.failed.pop(entry_id, None)
            self._report.add("deleted" if entry_id in retired else "lost", entry_id)

    def lose(self, entry_id: bytes, *, running: bool = False) -> None:
        """Note that an entry in hand is somebody else's, or settled, and let it go."""
        self._hold.drop(entry_id)
        self._report.add("lost", entry_id)
        self._say(Lost(entry_id.decode(), running))

    def _say(self, event: Event) -> None:
        if self._emit is not None:
            self._emit(event)


def refusal(fate: Fate) -> str:
    """Say in words why a script did not move an entry."""
    if fate.word == "large":
        return f"{_text(fate.rest[0])} fields are more than one script can write"
    return one_line(_text(fate.rest[0])) if fate.rest else fate.word


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
