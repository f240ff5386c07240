"""Leases: what is in hand stays ours.

A slow handler, and whatever waits for its turn, would look abandoned to the beats of others. Its idle time is reset
without counting a delivery, and only where this consumer still owns it: a blind renewal would steal an entry back from
whoever claimed it meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .hold import Hold
from .place import Place


class Lease:
    """The renewal of everything in hand. `lifetime`: seconds after which others may claim (their `min_idle`)."""

    def __init__(
        self,
        place: Place,
        hold: Hold,
        *,
        lifetime: float,
        is_done: Callable[[bytes], bool],
        on_lost: Callable[[bytes], None],
        clock: Callable[[], float],
    ) -> None:
        self._place = place
        self._hold = hold
        self._is_done = is_done
        self._on_lost = on_lost
        self._clock = clock
        self._seen: set[bytes] = set()
        self._lock = asyncio.Lock()
        self.period = lifetime / 4
        self.fresh_until = clock() + lifetime / 2
        """Until then, nothing that waits can have been claimed by others; after it (a stalled loop), ask first."""

    async def sweep(self, *, everything: bool = False) -> None:
        """Renew what was in hand at the last sweep already: nothing younger can be close to its end.

        `everything`: also what is younger; so too after a stall, which makes every age unknown. Raises a ServerError.
        """
        async with self._lock:
            now = self._clock()
            held = self._hold.held | set(self._hold.delayed(now)) if self._hold.failed else self._hold.held.copy()
            due = held if everything or now > self.fresh_until else held & self._seen
            ids = list(due - self._hold.lost)
            lost = await self._place.renew(ids) if ids else []
            self._seen = held
            self.fresh_until = now + 2 * self.period
            for entry_id in lost:
                self._lose(entry_id)

    async def confirm(self) -> None:
        """Ask, after a stall, what is still ours, before anything that waits may begin. Raises a ServerError."""
        if self._clock() > self.fresh_until:
            await self.sweep(everything=True)

    def _lose(self, entry_id: bytes) -> None:
        # What is done is not pending because it was just acknowledged: the answers of two connections cross.
        if entry_id in self._hold.held and not self._is_done(entry_id):
            self._hold.lost.add(entry_id)
            self._on_lost(entry_id)
        self._hold.failed.pop(entry_id, None)
