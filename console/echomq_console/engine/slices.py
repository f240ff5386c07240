"""Slices: taking pending rows so that a crash costs no bystander its attempts.

Every entry is counted when it is taken, so no more is taken than will soon begin. What was delivered before (count 2 or
more) is taken alone, since it may be what kills this process; the rest in slices that grow while all goes well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from echomq_console.server.errors import ServerError

from .hands import Hands
from .hold import Hold
from .place import Fate, Place, Row
from .settle import Settle
from .turns import Slice, Turn
from .verdict import DeadLetter

_MOST = 256


class Taker:
    """Takes rows and waits until their handlers are done.

    `stopping` says when to take no more; `allowed` how many entries may still be begun.
    """

    def __init__(
        self,
        place: Place,
        hold: Hold,
        hands: Hands,
        settle: Settle,
        dead_letter: DeadLetter | None,
        *,
        stopping: Callable[[], bool],
        limit: int | None = None,
    ) -> None:
        self._place = place
        self._hold = hold
        self._hands = hands
        self._settle = settle
        self._limit = dead_letter.max_attempts if dead_letter else None
        self._stopping = stopping
        self._left = limit
        self._size = max(1, hands.concurrency)
        self.taken = 0

    @property
    def full(self) -> bool:
        """Whether no more entries may be begun."""
        return self._left is not None and self._left <= 0

    async def take(self, rows: Sequence[Row], *, least_idle_ms: int = 0) -> None:
        """Take rows one after another, dead-lettering first what is past the limit. Raises a ServerError.

        Rows in `held` stay there until they are settled or given back; when it stops early the rest is given back by
        whoever put it there.
        """
        left = list(rows)
        while left and not self._stopping() and not self.full:
            batch = self._next(left)
            del left[: len(batch)]
            doomed = self._doom(batch[0])
            if doomed:
                await self._settle.dead_letter(batch, doomed, self._place.name)
                continue
            if batch[0].deliveries >= 2:
                await self._settle.flush()
            counts = [self._gets(row) for row in batch]
            fates = await self._take(batch, counts, least_idle_ms)
            left[:0] = [fate.row for fate in fates if fate.word == "later"]
            await self._run(fates, counts)

    async def _take(self, batch: list[Row], counts: list[int], least_idle_ms: int) -> list[Fate]:
        try:
            fates = await self._place.take(batch, counts, least_idle_ms=least_idle_ms)
        except ServerError:
            self._hold.unsure.update((row.id, count) for row, count in zip(batch, counts, strict=True))
            raise
        if self._hold.unsure:
            for fate in fates:
                if fate.word != "later":
                    self._hold.unsure.pop(fate.row.id, None)
        return fates

    def _gets(self, row: Row) -> int:
        """The count a take gives: no more than it has where an earlier delivery counted it and its answer was lost."""
        return row.deliveries + (self._hold.unsure.get(row.id) != row.deliveries)

    def _next(self, left: list[Row]) -> list[Row]:
        """Choose what comes next: a run of doomed rows, one that was delivered before, or a growing slice."""
        doomed = self._doom(left[0])
        if doomed:
            most = 100
        elif left[0].deliveries >= 2:
            most = 1
        else:
            most = min(self._size, max(self._hands.concurrency, self._hands.ahead()))
        if self._left is not None and not doomed:
            most = min(most, self._left)
        batch: list[Row] = []
        for row in left[:most]:
            if self._doom(row) != doomed or (row.deliveries >= 2 and not doomed and batch):
                break
            batch.append(row)
        return batch

    def _doom(self, row: Row) -> str | None:
        """Why a row goes to the dead letters before its handler; None: it does not."""
        failure = self._hold.failed.get(row.id)
        if failure is not None and failure.doomed is not None:
            return failure.doomed
        if self._limit is None or self._gets(row) <= self._limit:
            return None
        why = f"delivered {row.deliveries} times, the limit is {self._limit}"
        return f"{why}; last error: {failure.reason}" if failure is not None else why

    async def _run(self, fates: list[Fate], counts: list[int]) -> None:
        ghosts = [fate.row.id for fate in fates if fate.word == "ghost"]
        for fate in fates:
            if fate.word in ("gone", "moved"):
                self._settle.lose(fate.row.id)
                self._hold.failed.pop(fate.row.id, None)
        taken = [(fate, count) for fate, count in zip(fates, counts, strict=True) if fate.word == "taken"]
        if taken:
            await self._turns(taken)
        if ghosts:
            await self._settle.retire(ghosts)

    async def _turns(self, taken: list[tuple[Fate, int]]) -> None:
        together = Slice(len(taken))
        turns = []
        for (row, _, (fields,)), count in taken:
            self._hold.held.add(row.id)
            self._hold.failed.pop(row.id, None)
            turns.append(Turn(row.id, fields, max(count, 1), row.deliveries, row.idle_ms, together))
        self.taken += len(turns)
        if self._left is not None:
            self._left -= len(turns)
        self._hands.give_slice(turns)
        await together.done
        self._size = min(_MOST, self._size * 2)
