"""Dead letters: the original pairs, verbatim, followed by where they came from and why.

Reading strips exactly the trailing block, so an original field that happens to be called `dl:x` survives.
"""

from __future__ import annotations

from dataclasses import dataclass

from .entry import Pair, Pairs, StreamEntry
from .entry_id import EntryId

PROVENANCE_NAMES = (
    b"dl:stream",
    b"dl:group",
    b"dl:id",
    b"dl:consumer",
    b"dl:attempts",
    b"dl:idle_ms",
    b"dl:reason",
    b"dl:by",
    b"dl:at",
)
"""The names of the block, in the order they are written."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a dead letter came from.

    `entry_id` is the original id, `consumer` the owner at that moment, `attempts` the server's delivery count at the
    move, `idle_ms` milliseconds since the last delivery, `by` the consumer or operator that moved it, `at_ms` Unix
    milliseconds of the move by the server's clock.
    """

    stream: bytes
    group: bytes
    entry_id: EntryId
    consumer: bytes
    attempts: int
    idle_ms: int
    reason: bytes
    by: bytes
    at_ms: int

    def pairs(self) -> Pairs:
        """Write the block."""
        values = (
            self.stream,
            self.group,
            bytes(self.entry_id),
            self.consumer,
            b"%d" % self.attempts,
            b"%d" % self.idle_ms,
            self.reason,
            self.by,
            b"%d" % self.at_ms,
        )
        return tuple(zip(PROVENANCE_NAMES, values, strict=True))


@dataclass(frozen=True, slots=True)
class DeadLetterEntry:
    """A dead letter: its own id in the dead-letter stream, the original pairs, and the provenance."""

    id: EntryId
    original: Pairs
    provenance: Provenance


def split_provenance(pairs: Pairs) -> tuple[Pairs, Provenance | None]:
    """Take the trailing block off; `(pairs, None)` where there is none or it cannot be read."""
    cut = len(pairs) - len(PROVENANCE_NAMES)
    block = pairs[max(cut, 0) :]
    if cut < 0 or tuple(name for name, _ in block) != PROVENANCE_NAMES:
        return pairs, None
    provenance = _parse_block(block)
    if provenance is None or provenance.pairs() != block:  # it could not be written back as it was
        return pairs, None
    return pairs[:cut], provenance


def dead_letter_of(entry: StreamEntry) -> DeadLetterEntry | None:
    """Read an entry of a dead-letter stream; None where it is no dead letter."""
    original, provenance = split_provenance(entry.pairs)
    return DeadLetterEntry(entry.id, original, provenance) if provenance else None


def _parse_block(block: tuple[Pair, ...]) -> Provenance | None:
    stream, group, entry_id, consumer, attempts, idle_ms, reason, by, at_ms = (value for _, value in block)
    try:
        return Provenance(
            stream, group, EntryId.parse(entry_id), consumer, int(attempts), int(idle_ms), reason, by, int(at_ms)
        )
    except ValueError:
        return None
