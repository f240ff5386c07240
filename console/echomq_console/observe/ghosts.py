"""Ghosts: rows of a pending list whose entries are gone from the stream.

A row below the stream's first id is one for sure, and so is every row of an emptied stream. An entry deleted from the
middle (XDEL) can only be asked for; the server remembers the greatest id that was ever deleted that way (from 7.0 on),
so rows above it are not asked for. Before 7.0 deletions from the middle are not noticed.
"""

from __future__ import annotations

from collections.abc import Iterable

from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.model.snapshot import PendingEntry, StreamState

_REMEMBERED = 100_000


class GhostWatch:
    """What is known about the rows of one group."""

    def __init__(self) -> None:
        self._first_id: EntryId | None = None
        self._last_generated_id = ZERO
        self._max_deleted_id = ZERO
        self._gone: set[EntryId] = set()
        self._there: set[EntryId] = set()

    def update(self, stream: StreamState) -> None:
        """Take over a stream's bounds, read before the rows they are held against."""
        self._first_id = stream.first_id
        self._last_generated_id = stream.last_generated_id
        max_deleted = stream.max_deleted_id or ZERO
        if max_deleted != self._max_deleted_id or len(self._there) > _REMEMBERED:
            self._there.clear()  # what was there may have been deleted since; what was gone stays gone
            self._max_deleted_id = max_deleted
        if len(self._gone) > _REMEMBERED:
            self._gone.clear()

    def is_ghost(self, entry_id: EntryId) -> bool:
        """Whether the entry of a row is known to be gone."""
        return self._is_below(entry_id) or entry_id in self._gone

    def suspects(self, rows: Iterable[PendingEntry]) -> list[EntryId]:
        """The rows whose entries must be asked for."""
        return [
            row.id
            for row in rows
            if row.id <= self._max_deleted_id
            and row.id not in self._gone
            and row.id not in self._there
            and not self._is_below(row.id)
        ]

    def learn(self, entry_id: EntryId, is_there: bool) -> None:
        """Remember the answer about a suspect."""
        (self._there if is_there else self._gone).add(entry_id)

    def _is_below(self, entry_id: EntryId) -> bool:
        if self._first_id is None:  # empty; a row above the last id was added after the stream was looked at
            return entry_id <= self._last_generated_id
        return entry_id < self._first_id
