"""Views: what a screen shows, as plain data.

A view is made by pure code (it can be printed, compared and tested without a terminal) and drawn by a dumb widget.
Nothing here imports Textual. All text in a view is harmless already: whoever makes a view has turned control
characters into visible ones.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

Tone = Literal["plain", "dim", "good", "info", "warn", "bad", "accent", "unknown"]
"""What a piece of text means. A theme gives each tone a style; a state never rests on its hue alone."""

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table, or one run of text in a line."""

    text: str
    tone: Tone = "plain"
    bold: bool = False


Line = tuple[Cell, ...]
"""One line of text: runs drawn one after the other."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `width` is the number of terminal cells it takes, without the gap beside it. One column of a table may have
    `flex`: it takes what the others leave, and never less than `width`. When the table is too narrow, the columns
    with the highest `drop` go first; `drop` 0 stays whatever happens.
    """

    key: str
    title: str
    width: int
    align: Align = "left"
    flex: bool = False
    drop: int = 0
    sortable: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row, known by its key: the cursor and the marks follow the key, not the position."""

    key: Hashable
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """A window of rows out of `total`.

    `rows[0]` stands at position `offset` of the whole list, so a table over a million rows holds a few hundred.
    `sort` is the key of the column the rows are sorted by, with `descending` its direction.
    `empty` is said in the middle of the table where there is no row.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    total: int = -1
    offset: int = 0
    sort: str | None = None
    descending: bool = False
    empty: Line = (Cell("nothing here", "dim"),)

    def __post_init__(self) -> None:
        """Make `total` the number of rows where it was not given."""
        if self.total < 0:
            object.__setattr__(self, "total", self.offset + len(self.rows))


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram."""

    label: str
    value: int
    tone: Tone = "accent"


@dataclass(frozen=True, slots=True)
class HistogramView:
    """Bars on one line each, scaled to the greatest."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class TextView:
    """A block of lines: a finding, an entry, a help page."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class HeaderView:
    """Two sides of the line at the top of a screen; the right side gives way when it gets narrow."""

    left: Line
    right: Line = ()


AskKind = Literal["confirm", "count"]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, ready to be shown and confirmed.

    `ask` says how it is confirmed: `confirm` with a button, `count` by typing `count` as a number.
    `refusal` is the reason why it cannot be run at all; then there is no way to confirm it.
    `handler` is the text in the handler's field, or None where the action needs no handler.
    """

    title: str
    target: str
    summary: tuple[Line, ...]
    warnings: tuple[str, ...] = ()
    reassurances: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    sample: TableView | None = None
    count: int = 0
    ask: AskKind = "confirm"
    refusal: str | None = None
    handler: str | None = None


@dataclass(frozen=True, slots=True)
class ProgressView:
    """How far a run has come: `done` of about `total`, a line of counts, the latest lines of its log."""

    title: str
    target: str
    done: int
    total: int
    counts: Line = ()
    log: tuple[Line, ...] = ()
    finished: bool = False
    outcome: tuple[Line, ...] = field(default=())
