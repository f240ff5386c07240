"""Numbers in cells: the unknown is `?`, never 0."""

from __future__ import annotations

from echomq_console.model.text import duration, number
from echomq_widgets.views import Cell, Tone

UNKNOWN = Cell("?", "unknown")


def count_cell(value: int | None, tone: Tone = "plain") -> Cell:
    """A whole number; 0 is dim, so that what is not 0 stands out."""
    if value is None:
        return UNKNOWN
    return Cell(short_number(value), "dim" if value == 0 else tone)


def short_number(value: int) -> str:
    """A whole number; one that no server counts (a dead letter may say anything) is cut."""
    return number(value) if abs(value) < 1 << 64 else f"{'-' if value < 0 else ''}more than {number(1 << 64)}"


def span(ms: int) -> str:
    """A length of time; one that no calendar holds is cut."""
    return duration(ms) if abs(ms) < 1 << 64 else "for ever"


def rate_cell(value: float | None) -> Cell:
    """Entries a second."""
    if value is None:
        return UNKNOWN
    if value >= 100:
        return Cell(number(round(value)))
    return Cell(f"{value:.1f}", "dim" if value == 0 else "plain")


def age_cell(ms: int | None, tone: Tone = "plain") -> Cell:
    """A length of time in milliseconds."""
    return UNKNOWN if ms is None else Cell(span(ms), "dim" if ms < 1000 and tone == "plain" else tone)


def ago(now_ms: int, then_ms: int) -> str:
    """`14m 02s ago`; a moment that has not come yet is said to be ahead."""
    return f"{span(now_ms - then_ms)} ago" if then_ms <= now_ms else f"{span(then_ms - now_ms)} ahead"
