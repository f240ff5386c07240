"""The window on a pending list: which rows are loaded, and from which id the next ones are asked for.

The server gives a pending list by id, not by position. Every page's first id is remembered by position, so that
scrolling on asks for one page, and a jump walks from the nearest place that is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import PendingEntry

PAGE = 1000
"""Rows asked for at once while walking: half a millisecond of the server's time."""

MOST_PAGES = 40
"""Pages one walk may take; a farther jump goes on with the next refresh."""

MOST_BODIES = 4000
"""Bodies kept; they never change, so a refresh asks only for new ones."""

MOST_BYTES = 1000
MOST_PAIRS = 16
"""What is kept of a body: the preview in a row shows no more, however large the entry is."""

Look = Callable[[EntryId | None, int], Awaitable[Sequence[PendingEntry]]]
Bodies = Callable[[Sequence[EntryId]], Awaitable[dict[EntryId, StreamEntry | None]]]


@dataclass(slots=True)
class PendingWindow:
    """A window of rows, its place, and the bodies that are known.

    Where entries at the head of the list were acknowledged meanwhile, the rows in sight keep their places, and only
    what stands before and after them is counted anew: nothing jumps under an operator's eyes.
    """

    offset: int = 0
    size: int = 200
    rows: tuple[PendingEntry, ...] = ()
    bodies: dict[EntryId, StreamEntry | None] = field(default_factory=dict)
    is_loaded: bool = False
    _has_more: bool = False
    _starts: dict[int, EntryId | None] = field(default_factory=lambda: {0: None})

    def move(self, offset: int, size: int) -> None:
        """Ask for another window from now on."""
        if offset != self.offset:
            self.rows, self.is_loaded = (), False
        self.offset, self.size = max(0, offset), size

    def forget(self) -> None:
        """Start over: another list is looked at."""
        self.move(0, self.size)
        self.rows, self.is_loaded, self._has_more = (), False, False
        self._starts = {0: None}

    def total(self, counted: int) -> int:
        """How long the list is, by what was seen of it; `counted` is the server's count, of a moment ago."""
        if not self.is_loaded:
            return max(counted, self.offset)
        end = self.offset + len(self.rows)
        if not self._has_more:
            return end
        return counted if counted > end else end + self.size

    async def load(self, look: Look) -> None:
        """Fetch the window's rows anew; they may have changed. Raises a ServerError."""
        at = await self._walk(look)
        if at != self.offset:
            self.rows, self.is_loaded = (), False
            return
        page = tuple(await look(self._starts[at], self.size + 1))
        if not page and at > 0:  # everything from here on was acknowledged
            self._shorten(at)
            await self.load(look)
            return
        self.rows, self._has_more, self.is_loaded = page[: self.size], len(page) > self.size, True

    async def _walk(self, look: Look) -> int:
        """Go from the nearest known place to the window's; says how far it came."""
        self._starts = {place: start for place, start in self._starts.items() if place <= self.offset}
        at = max(self._starts)
        for _ in range(MOST_PAGES):
            if at == self.offset:
                break
            step = min(PAGE, self.offset - at)
            page = await look(self._starts[at], step)
            if len(page) < step:  # the list has become shorter than the window's place
                self._shorten(at + len(page))
                at = 0
                continue
            at += step
            self._starts[at] = page[-1].id.successor()
        return at

    def _shorten(self, length: int) -> None:
        """Go back to the last window of a list that ends here, and count from its head."""
        self.offset = max(0, length - self.size)
        self._starts = {0: None}

    async def load_bodies(self, fetch: Bodies, most: int = 100) -> bool:
        """Fetch bodies of rows that have none yet, `most` at a time; whether there was anything to fetch."""
        unknown = [row.id for row in self.rows if row.id not in self.bodies][:most]
        if not unknown:
            return False
        if len(self.bodies) > MOST_BODIES:
            self.bodies.clear()
        found = await fetch(unknown)
        self.bodies.update({i: None if entry is None else _shortened(entry) for i, entry in found.items()})
        return True


def _shortened(entry: StreamEntry) -> StreamEntry:
    return replace(
        entry, pairs=tuple((name[:MOST_BYTES], value[:MOST_BYTES]) for name, value in entry.pairs[:MOST_PAIRS])
    )
