"""What a drain, a claim or a move did."""

from __future__ import annotations

from dataclasses import dataclass, field

OUTCOMES = ("delivered", "acknowledged", "failed", "dead_lettered", "deleted", "lost", "skipped")
"""What can become of an entry, as a report's `ids` are keyed."""


@dataclass(slots=True)
class Report:
    """What one call did, in numbers and by entry id.

    `delivered`: handlers begun. `acknowledged`: settled after `Ok` (also where somebody else had settled it by then).
    `failed`: still pending. `dead_lettered`: moved. `deleted`: ghosts taken off the list. `lost`: taken or settled by
    somebody else meanwhile. `skipped`: left alone by `dead_letter`.

    `ids`: outcome -> entry ids. `reasons`: entry id -> why, for what failed or was skipped. `cursor`: where to go on
    ("0-0": the round is complete). `seconds`: how long it took.
    """

    delivered: int = 0
    acknowledged: int = 0
    failed: int = 0
    dead_lettered: int = 0
    deleted: int = 0
    lost: int = 0
    skipped: int = 0
    ids: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in OUTCOMES})
    reasons: dict[str, str] = field(default_factory=dict)
    cursor: str = "0-0"
    seconds: float = 0.0

    def add(self, outcome: str, entry_id: bytes, reason: str = "") -> None:
        """Count one entry under an outcome, with the reason where there is one."""
        text = entry_id.decode()
        setattr(self, outcome, getattr(self, outcome) + 1)
        self.ids[outcome].append(text)
        if reason:
            self.reasons[text] = reason


class Totals(Report):
    """The numbers of a consumer that runs for months: no ids, no reasons."""

    def add(self, outcome: str, entry_id: bytes, reason: str = "") -> None:
        """Count one entry under an outcome."""
        setattr(self, outcome, getattr(self, outcome) + 1)
