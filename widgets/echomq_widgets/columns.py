"""Which columns of a table fit, and where they stand. Nothing here imports Textual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from echomq_widgets.views import Column

GAP = 2
_LEAST_FLEX = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column stands: its index in the view, its first terminal cell and how many it takes."""

    index: int
    column: Column
    start: int
    width: int


@dataclass(frozen=True, slots=True)
class Places:
    """The columns that are shown, left to right, after a gutter of `gutter` cells."""

    gutter: int
    shown: tuple[Place, ...]

    def at(self, x: int) -> Column | None:
        """Say which column a terminal cell belongs to; the gap after a column counts as its own."""
        for place in self.shown:
            if place.start <= x < place.start + place.width + GAP:
                return place.column
        return None


def place_columns(columns: Sequence[Column], width: int, gutter: int) -> Places:
    """Leave columns out, highest `drop` first (the rightmost of equals), until the rest fits; flex takes the rest.

    Where even the columns that stay are too wide, the flex column gives what it can, and then the right edge cuts.
    """
    kept = list(enumerate(columns))
    while kept and _needed(kept, gutter) > width:
        highest = max(column.drop for _, column in kept)
        if highest == 0:
            break
        kept.remove([pair for pair in kept if pair[1].drop == highest][-1])
    spare = width - _needed(kept, gutter)
    shown: list[Place] = []
    start = gutter
    for index, column in kept:
        taken = column.width
        if column.flex:
            taken, spare = max(min(taken, _LEAST_FLEX), taken + spare), 0
        taken = min(taken, width - start)
        if taken <= 0:
            break
        shown.append(Place(index, column, start, taken))
        start += taken + GAP
    return Places(gutter, tuple(shown))


def _needed(kept: list[tuple[int, Column]], gutter: int) -> int:
    return gutter + sum(column.width for _, column in kept) + GAP * max(0, len(kept) - 1)
