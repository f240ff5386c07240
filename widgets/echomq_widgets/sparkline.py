"""A trend in one line of text. Nothing here imports Textual."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

_LEVELS = "▁▂▃▄▅▆▇█"
_LEAST_SPAN = 0.2


def spark(values: Sequence[float | None], width: int, *, low: float | None = None, high: float | None = None) -> str:
    """Draw values as `width` characters, the latest at the right end.

    None (and anything not finite) is a gap. Fewer values than `width` leave gaps on the left; more are averaged in
    equal groups. The scale runs from the least to the greatest value, but never over less than a fifth of the
    greatest, so that a steady series is a steady line in the middle and not a mountain range. Zero is always the
    lowest line. `low` and `high` fix the ends of the scale.
    """
    if width <= 0:
        return ""
    points = _resample([value if value is not None and isfinite(value) else None for value in values], width)
    known = [value for value in points if value is not None]
    if not known:
        return " " * width
    bottom, top = _scale(min(known), max(known), low, high)
    return "".join(" " if value is None else _level(value, bottom, top) for value in points)


def _resample(values: list[float | None], width: int) -> list[float | None]:
    count = len(values)
    if count <= width:
        return [None] * (width - count) + values
    points: list[float | None] = []
    for place in range(width):
        group = values[place * count // width : (place + 1) * count // width]
        known = [value for value in group if value is not None]
        points.append(sum(known) / len(known) if known else None)
    return points


def _scale(least: float, greatest: float, low: float | None, high: float | None) -> tuple[float, float]:
    missing = _LEAST_SPAN * max(abs(least), abs(greatest)) - (greatest - least)
    if missing > 0:
        least, greatest = least - missing / 2, greatest + missing / 2
    return (least if low is None else low), (greatest if high is None else high)


def _level(value: float, bottom: float, top: float) -> str:
    if top <= bottom:
        return _LEVELS[0]
    share = min(1.0, max(0.0, (value - bottom) / (top - bottom)))
    return _LEVELS[min(len(_LEVELS) - 1, int(share * len(_LEVELS)))]
