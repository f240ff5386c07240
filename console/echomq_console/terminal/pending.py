"""The window on a pending list: which rows are loaded, and from which id the next ones are asked for.

The server gives a pending list by id, not by position. Every page's first id is remembered by position, so that
scrolling on asks for one page, and a jump walks from the nearest place that is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import PendingEntry

PAGE = 1000
"""Rows asked for at once while walking: half a millisecond of the server's time."""

MOST_PAGES = 40
"""Pages one walk may take; a farther jump goes on with the next refresh."""

MOST_BODIES = 4000
"""Bodies kept; they never change, so a refresh asks only for new ones."""

Look = Callable[[EntryId | None, int], Awaitable[Sequence[PendingEntry]]]
Bodies = Callable[[Sequence[EntryId]], Awaitable[dict[EntryId, StreamEntry | None]]]


@dataclass(slots=True)
class PendingWindow:
    """A window of rows, its place, and the bodies that are known."""

    offset: int = 0
    size: int = 200
    rows: tuple[PendingEntry, ...] = ()
    bodies: dict[EntryId, StreamEntry | None] = field(default_factory=dict)
    _starts: dict[int, EntryId | None] = field(default_factory=lambda: {0: None})

    def move(self, offset: int, size: int) -> None:
        """Ask for another window from now on."""
        self.offset, self.size = max(0, offset), size

    def forget(self) -> None:
        """Start over: another list is looked at."""
        self.offset, self.rows = 0, ()
        self._starts = {0: None}

    async def load(self, look: Look) -> None:
        """Fetch the window's rows anew; they may have changed. Raises a ServerError."""
        at = max(place for place in self._starts if place <= self.offset)
        start = self._starts[at]
        for _ in range(MOST_PAGES):
            ahead = self.offset - at
            if ahead == 0:
                break
            step = min(PAGE, ahead)
            page = await look(start, step)
            if len(page) < step:  # the list has become shorter than the window's place
                self.offset = max(0, at + len(page) - self.size)
                self._starts = {0: None}
                at, start = 0, None
                continue
            at, start = at + len(page), page[-1].id.successor()
            self._starts[at] = start
        if at == self.offset:
            self.rows = tuple(await look(start, self.size))

    async def load_bodies(self, fetch: Bodies, most: int = 100) -> bool:
        """Fetch bodies of rows that have none yet, `most` at a time; whether there was anything to fetch."""
        unknown = [row.id for row in self.rows if row.id not in self.bodies][:most]
        if not unknown:
            return False
        if len(self.bodies) > MOST_BODIES:
            self.bodies.clear()
        self.bodies.update(await fetch(unknown))
        return True
