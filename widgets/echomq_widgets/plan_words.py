"""The words of a plan's dialog. Nothing here imports Textual."""

from __future__ import annotations

import re
from dataclasses import replace

from echomq_widgets.lines import crop, line_width
from echomq_widgets.views import Cell, Line, PlanView, TableView, TextView

SAMPLE_ROWS = 8
NAME_A_HANDLER = "name a handler first, module:function or exec:COMMAND"

_BLANK: Line = ()


def title_words(view: PlanView, width: int) -> TextView:
    """Put the title on the left and the target on the right; a long target gets lines of its own, never cut."""
    title, target = Cell(view.title, "plain", bold=True), Cell(view.target, "accent", bold=True)
    space = width - line_width((title, target))
    if space >= 2:
        return TextView(((title, Cell(" " * space), target),))
    return TextView(((title,), (target,)))


def plan_words(view: PlanView) -> TextView:
    """Say what will happen, what to look out for, and what is sure."""
    warnings = tuple((Cell("⚠ ", "warn"), Cell(text, "warn")) for text in view.warnings)
    sure = tuple((Cell("✓ ", "good"), Cell(text)) for text in view.reassurances)
    signs = warnings + sure
    return TextView((*view.summary, *((_BLANK, *signs) if signs else ())))


def sample_rows(sample: TableView) -> TableView:
    """Give the first rows of the sample, all there is to scroll through."""
    rows = sample.rows[:SAMPLE_ROWS]
    return replace(sample, rows=rows, offset=0, total=len(rows))


def command_words(view: PlanView) -> TextView:
    """Say how many more there are than the sample shows, and the exact commands."""
    lines: list[Line] = []
    if view.sample is not None:
        more = view.sample.total - min(SAMPLE_ROWS, len(view.sample.rows))
        if more > 0:
            lines.append((Cell(f"  … and {more:,} more", "dim"),))
    if view.commands:
        lines += [_BLANK, *((Cell("  "), Cell(command, "info")) for command in view.commands)]
    return TextView(tuple(lines))


def refusal_words(reason: str) -> TextView:
    """Say why the plan cannot be run."""
    return TextView(((Cell("✕ ", "bad"), Cell("cannot run: ", "bad"), Cell(reason)),))


def wrong_count_words(typed: str, count: int) -> str:
    """Say that the number is not the plan's."""
    if not typed.strip():
        return f"type how many entries this is about, {count:,}, or Escape to leave"
    return f"you typed {crop(typed.strip(), 20)}, but this is about {count:,}"


def read_count(typed: str) -> int | None:
    """Read a number as people type it, with or without separators."""
    digits = re.sub(r"[\s,._']", "", typed)
    return int(digits) if digits.isdecimal() and digits.isascii() else None
