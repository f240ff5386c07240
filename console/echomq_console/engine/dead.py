"""Dead-lettering by hand: entries moved to the dead letters, each at most once, its bytes never leaving the server."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from echomq_console.model.entry_id import EntryId
from echomq_console.server.address import Address
from echomq_console.server.errors import CommandError, Denied, NoGroup
from echomq_console.server.wire import Client

from .door import check_move
from .errors import DeadLetterRefused
from .events import DeadLettered, DeadLetterFailed, Listener
from .place import Fate, Place, Row, shown
from .report import Report
from .session import as_bytes, connected, guarded
from .settle import refusal

_BATCH = 100

AnyId = str | bytes | EntryId
Seen = tuple[bytes, int]


async def dead_letter(
    client: Address | Client,
    *,
    stream: str | bytes,
    group: str | bytes,
    ids: Iterable[AnyId],
    reason: str,
    by: str | bytes,
    expect: Mapping[str, Seen] | Mapping[bytes, Seen] | Mapping[EntryId, Seen] | None = None,
    listener: Listener | None = None,
) -> Report:
    """Move pending entries to the dead letters of their stream, in batches of up to 100.

    `by`: the operator or program, as the provenance names it. `expect`: entry id -> the (owner, delivery count) that
    was seen; an entry that shows another one by now is skipped. What is not pending any more, changed, or deleted from
    the stream is in the report as skipped, with its reason.

    Raises NoKey or NoGroup for a name the server does not know, DeadLetterRefused (with the report of what was done)
    where the dead-letter stream cannot be written or an entry has too many fields for a script, and any other
    ServerError. ValueError for what is no entry id.
    """
    seen = {_id(key): value for key, value in (expect or {}).items()}
    rows = [Row(each, *seen.get(each, (b"", -1))) for each in dict.fromkeys(map(_id, ids))]
    async with connected(client, stream, group, by, "dead-letter") as place:
        await place.must_exist()
        await check_move(place)
        began = time.monotonic()
        move = _Move(place, reason, as_bytes(by), listener)
        try:
            await move.all(rows)
        finally:
            move.report.seconds = time.monotonic() - began
        return move.report


class _Move:
    def __init__(self, place: Place, reason: str, by: bytes, listener: Listener | None) -> None:
        self.place = place
        self.reason = reason
        self.by = by
        self.emit = guarded(listener)
        self.report = Report()
        self.problem = ""

    async def all(self, rows: list[Row]) -> None:
        left = rows
        while left:
            batch, left = left[:_BATCH], left[_BATCH:]
            try:
                fates = await self.place.dead_letter(batch, reason=self.reason, by=self.by)
            except NoGroup:
                raise
            except (CommandError, Denied) as error:
                raise DeadLetterRefused(self._cannot(str(error)), self.report) from error
            left = [fate.row for fate in fates if fate.word == "later"] + left
            for fate in fates:
                self._note(fate)
            refused = next((fate for fate in fates if fate.word == "refused"), None)
            if refused is not None:
                raise DeadLetterRefused(self._cannot(refusal(refused)), self.report)
        if self.problem:
            raise DeadLetterRefused(self.problem, self.report)

    def _cannot(self, why: str) -> str:
        return f"cannot write the dead letters at {shown(self.place.dead_key)}: {why}"

    def _note(self, fate: Fate) -> None:
        entry_id = fate.row.id
        text = entry_id.decode()
        if fate.word == "dead":
            dead_id, _, count = fate.rest
            self.report.add("dead_lettered", entry_id)
            if self.emit is not None:
                self.emit(DeadLettered(text, bytes(dead_id).decode(), int(str(count)), self.reason))
        elif fate.word == "gone":
            self.report.add("skipped", entry_id, "not pending any more")
        elif fate.word == "moved":
            owner, count = fate.rest
            self.report.add("skipped", entry_id, f"changed: now {shown(owner)}'s, delivered {count} times")
        elif fate.word == "ghost":
            self.report.add("skipped", entry_id, "deleted from the stream: there is nothing to move")
        elif fate.word in ("large", "refused"):
            self.report.add("failed", entry_id, refusal(fate))
            if fate.word == "large":
                self.problem = f"the entry {text} stays pending: {refusal(fate)}"
            if self.emit is not None:
                self.emit(DeadLetterFailed(text, self.reason, refusal(fate)))


def _id(given: AnyId) -> bytes:
    return bytes(given if isinstance(given, EntryId) else EntryId.parse(given))
