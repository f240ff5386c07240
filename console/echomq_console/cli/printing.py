"""Printing views: tables, texts and plans as plain lines, as wide as the terminal, or uncut where there is none."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from echomq_widgets.columns import GAP, place_columns
from echomq_widgets.lines import fit, harmless, wrap_line
from echomq_widgets.views import Cell, Column, Line, PlanView, Row, TableView, TextView, Tone

_STYLES: dict[Tone, Style] = {
    "plain": Style(),
    "dim": Style(dim=True),
    "good": Style(color="green"),
    "info": Style(color="blue"),
    "warn": Style(color="yellow", bold=True),
    "bad": Style(color="red", bold=True),
    "accent": Style(color="cyan"),
    "unknown": Style(dim=True, italic=True),
}
_UNCUT = 1_000_000


class Printer:
    """Prints to one stream. Colours and widths are the terminal's; `NO_COLOR` and pipes are respected."""

    def __init__(self, file: IO[str] | None = None) -> None:
        self._console = Console(
            file=file or sys.stdout, markup=False, highlight=False, emoji=False, legacy_windows=False
        )

    @property
    def width(self) -> int:
        """How many cells a line may take."""
        return self._console.width if self._console.is_terminal else _UNCUT

    def line(self, line: Line) -> None:
        """Print one line as it is, never broken: the terminal folds it, so a command can be copied whole."""
        text = Text()
        for cell in line:
            text.append(harmless(cell.text), _STYLES[cell.tone] + Style(bold=True) if cell.bold else _STYLES[cell.tone])
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False, soft_wrap=True)

    def say(self, text: str = "", tone: Tone = "plain") -> None:
        """Print words."""
        self.line((Cell(text, tone),))

    def lines(self, lines: Iterable[Line]) -> None:
        """Print lines, broken at spaces where they are too wide; a command is left whole."""
        for line in lines:
            for piece in [line] if _is_command(line) else wrap_line(line, self.width):
                self.line(piece)

    def text(self, view: TextView) -> None:
        """Print a block of text."""
        self.lines(view.lines)

    def table(self, view: TableView) -> None:
        """Print a table: all its columns where there is no terminal, else what fits."""
        if not view.rows:
            self.lines([view.empty])
            return
        for line in table_lines(view, self.width):
            self.line(line)

    def plan(self, view: PlanView) -> None:
        """Print a plan: what it would do, what it would not, the exact commands."""
        self.lines([(Cell(view.title, bold=True), Cell("  "), Cell(view.target, "accent", bold=True))])
        self.lines((Cell("  "), *line) for line in view.summary)
        self.lines((Cell("  ⚠ ", "warn"), Cell(text, "warn")) for text in view.warnings)
        self.lines((Cell("  ✓ ", "good"), Cell(text)) for text in view.reassurances)
        if view.sample is not None and view.sample.rows:
            self.say()
            for line in table_lines(view.sample, self.width - 2):
                self.line((Cell("  "), *line))
            more = view.sample.total - len(view.sample.rows)
            if more > 0:
                self.say(f"  … and {more:,} more", "dim")
        if view.commands:
            self.say()
            self.lines((Cell(_COMMAND, "dim"), Cell(command, "info")) for command in view.commands)

    def json(self, document: dict[str, Any]) -> None:
        """Print one JSON document."""
        self._console.file.write(json.dumps(document, indent=2) + "\n")
        self._console.file.flush()


def table_lines(view: TableView, width: int) -> Iterator[Line]:
    """Lay a table out: every column as wide as what it holds, and only so many columns as fit."""
    columns = [_as_wide_as_needed(view, index) for index in range(len(view.columns))]
    if sum(column.width for column in columns) + GAP * (len(columns) - 1) > width:
        columns = [_no_wider(needed, said) for needed, said in zip(columns, view.columns, strict=True)]
    places = place_columns(columns, width, 0).shown
    heading = Row(None, tuple(Cell(column.title, "dim") for column in view.columns))
    for row in (heading, *view.rows):
        cells: list[Cell] = []
        for place in places:
            cell = row.cells[place.index]
            is_last = place is places[-1]
            text = fit(cell.text, place.width, place.column.align)
            cells.append(replace(cell, text=text.rstrip() if is_last else text + " " * GAP))
        yield tuple(cells)


def _as_wide_as_needed(view: TableView, index: int) -> Column:
    column = view.columns[index]
    widest = max((cell_len(harmless(row.cells[index].text)) for row in view.rows), default=0)
    return replace(column, width=max(cell_len(column.title), widest), flex=False)


def _no_wider(needed: Column, said: Column) -> Column:
    """On a terminal that is too narrow, the view's own widths hold, and the flexible column takes the rest."""
    return replace(said, width=needed.width if said.flex is False and needed.width < said.width else said.width)


_COMMAND = "  $ "


def _is_command(line: Sequence[Cell]) -> bool:
    return bool(line) and line[0].text == _COMMAND
