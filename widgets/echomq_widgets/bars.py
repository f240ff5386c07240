"""Bars in text: of a histogram, of a progress. Nothing here imports Textual."""

from __future__ import annotations

from rich.cells import cell_len

from echomq_widgets.lines import crop_line, fit, line_width
from echomq_widgets.views import Bar, Cell, HistogramView, Line

_EIGHTHS = "▏▎▍▌▋▊▉█"
_GAP = "     "
_BAR_WIDTH = 12


def bar(value: float, greatest: float, width: int) -> str:
    """Draw `value` of `greatest` as a bar of at most `width` cells; what is above zero is at least a sliver."""
    if width <= 0:
        return ""
    share = min(1.0, max(0.0, value / greatest)) if greatest > 0 else 0.0
    eighths = max(1, round(share * width * 8))
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")


def histogram_line(view: HistogramView, width: int, title_width: int = 0) -> Line:
    """Put a histogram in one line: title, then label, bar and value of each; bars shrink to fit."""
    title = view.title + " " * max(0, title_width - cell_len(view.title)) + ("   " if view.title else "")
    line: Line = ()
    for bar_width in range(_BAR_WIDTH, 0, -1):
        line = (Cell(title, "dim"), *_row(view, bar_width, _GAP))
        if line_width(line) <= width:
            return line
    return crop_line((Cell(title, "dim"), *_row(view, 1, "  ")), width)


def histogram_lines(view: HistogramView, width: int) -> tuple[Line, ...]:
    """Put each bar of a histogram on a line of its own, under the title."""
    labels = max((cell_len(one.label) for one in view.bars), default=0)
    values = max((len(f"{one.value:,}") for one in view.bars), default=0)
    room = max(1, width - labels - values - 3)
    greatest = max((one.value for one in view.bars), default=0)
    rows: list[Line] = [(Cell(view.title, "dim"),)] if view.title else []
    for one in view.bars:
        drawn, value = _bar_cells(one, greatest, room)
        rows.append((Cell(fit(one.label, labels, "right") + " ", "dim"), drawn, value))
    return tuple(crop_line(row, width) for row in rows)


def _row(view: HistogramView, bar_width: int, gap: str) -> Line:
    greatest = max((one.value for one in view.bars), default=0)
    cells: list[Cell] = []
    for number, one in enumerate(view.bars):
        drawn, value = _bar_cells(one, greatest, bar_width)
        cells += [Cell(f"{gap if number else ''}{one.label} ", "dim"), drawn, value]
    return tuple(cells)


def _bar_cells(one: Bar, greatest: int, width: int) -> tuple[Cell, Cell]:
    drawn = bar(one.value, greatest, width)
    tone = one.tone if one.value else "dim"
    gap = "" if drawn == _EIGHTHS[0] else " "
    return Cell(drawn, tone), Cell(f"{gap}{one.value:,}", "plain" if one.value else "dim")
