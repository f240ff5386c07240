"""What this process has in hand, and what failed here and waits for its beat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from echomq_console.model.entry_id import ZERO

_MOST_FAILURES = 100_000


class Failure(NamedTuple):
    """An entry that failed here, by this loop's clock (seconds); `doomed`: why it is due for the dead letters."""

    not_before: float
    reason: str
    doomed: str | None = None


class Hold:
    """The entry ids in hand.

    `held`: waiting, running, or handled and not yet acknowledged; none of these is dispatched again. `lost`: those of
    them that are somebody else's by now. `failed`: pending under our name, out of hand, waiting for the beat. `unsure`:
    entry id -> the count it was to get from a read or a take whose answer was lost; if it has it, the next take adds
    none; -1: it was claimed, which counts nothing. `read_to`: no lost answer to a read brought anything up to here.
    """

    def __init__(self) -> None:
        self.held: set[bytes] = set()
        self.lost: set[bytes] = set()
        self.failed: dict[bytes, Failure] = {}
        self.unsure: dict[bytes, int] = {}
        self.read_to = ZERO

    def drop(self, entry_id: bytes) -> None:
        """Let an entry go: it is settled, given back, or somebody else's."""
        self.held.discard(entry_id)
        self.lost.discard(entry_id)

    def drop_all(self, ids: Iterable[bytes]) -> None:
        """Let many entries go."""
        self.held.difference_update(ids)
        if self.lost:
            self.lost.difference_update(ids)

    def fail(self, entry_id: bytes, failure: Failure) -> None:
        """Let an entry go that failed here; forgets it where it was lost meanwhile."""
        if entry_id not in self.lost:
            # The oldest are forgotten first: they only keep a recovery from taking an entry before its beat.
            while len(self.failed) >= _MOST_FAILURES:
                del self.failed[next(iter(self.failed))]
            self.failed[entry_id] = failure
        self.drop(entry_id)

    def delayed(self, now: float) -> list[bytes]:
        """Return what failed here and is not due yet."""
        return [entry_id for entry_id, failure in self.failed.items() if failure.not_before > now]

    def is_free(self, entry_id: bytes) -> bool:
        """Whether a recovery may take an entry: not in hand, and not waiting for its beat."""
        return entry_id not in self.held and entry_id not in self.failed
