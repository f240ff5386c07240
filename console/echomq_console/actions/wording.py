"""Words that several plans share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echomq_console.model.snapshot import ConsumerState, PendingEntry
from echomq_console.model.text import duration, harmless, number

COUNT_IS_TYPED_OVER = 100
"""A plan over more entries than this is confirmed by typing their number."""

SAMPLE = 5
"""Rows a plan shows."""


def entries(count: int) -> str:
    """`1 entry`, `1,204 entries`."""
    return f"{number(count)} {'entry' if count == 1 else 'entries'}"


def owners_text(owners: Mapping[bytes, int], most: int = 4) -> str:
    """`web-3 (1,197), web-1 (3)`."""
    shown = [f"{harmless(name, 40)} ({number(count)})" for name, count in list(owners.items())[:most]]
    more = len(owners) - most
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def deliveries_text(rows: Sequence[PendingEntry]) -> str:
    """`1 → 2`, or the range where the rows differ."""
    low, high = min(row.delivery_count for row in rows), max(row.delivery_count for row in rows)
    return f"{low} → {low + 1}" if low == high else f"{low}-{high} → {low + 1}-{high + 1}"


def often_delivered(rows: Sequence[PendingEntry], limit: int, max_attempts: int | None) -> list[str]:
    """Warn of entries that were delivered often: one of them may be what breaks its handler."""
    past, often = 0, 0
    for row in rows:
        if max_attempts is not None and row.delivery_count >= max_attempts:
            past += 1
        elif row.delivery_count >= limit:
            often += 1
    warnings = []
    if past:
        them = "it" if past == 1 else "them"
        warnings.append(
            f"{entries(past)} reached {max_attempts} deliveries: moved to the dead letters, no handler sees {them}"
        )
    if often:
        were = "was" if often == 1 else "were"
        advice = (
            "" if max_attempts is not None else " (--max-attempts N moves such entries to the dead letters instead)"
        )
        warnings.append(f"{entries(often)} {were} delivered {limit} times or more: look at the payload first{advice}")
    return warnings


def still_reading(consumers: Mapping[bytes, ConsumerState], name: bytes, job_ms: int) -> bool | None:
    """Whether a consumer tried to read within T; None where the server cannot tell (before 7.2)."""
    state = consumers.get(name)
    if state is None:
        return False
    if not state.idle_is_last_try:
        return None if state.idle_ms >= job_ms else True
    return state.idle_ms < job_ms


def span(ms: int) -> str:
    """A duration for a sentence."""
    return duration(ms)
