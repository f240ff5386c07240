"""Fitting text into terminal cells: cropping, padding and wrapping. Nothing here imports Textual."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from echomq_widgets.views import Align, Cell, Line

ELLIPSIS = "…"

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LEAD = re.compile(r"\s*(?:[▲◆●✕✓⚠·•?›] )?\s*")


def harmless(text: str) -> str:
    """Replace what would move the terminal's cursor. Views are harmless already; this is the second lock."""
    return text if text.isascii() and text.isprintable() else _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def line_width(line: Line) -> int:
    """Count the terminal cells of a line."""
    return sum(cell_len(cell.text) for cell in line)


def crop(text: str, width: int) -> str:
    """Cut text to at most `width` terminal cells, with … where something is missing."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    return text[: _fitting(text, 0, width - 1)] + ELLIPSIS


def fit(text: str, width: int, align: Align = "left") -> str:
    """Cut or pad text to exactly `width` terminal cells."""
    text = crop(harmless(text), width)
    padding = " " * (width - cell_len(text))
    return padding + text if align == "right" else text + padding


def crop_line(line: Line, width: int) -> Line:
    """Cut a line to at most `width` terminal cells."""
    if line_width(line) <= width:
        return line
    kept: list[Cell] = []
    room = width
    for cell in line:
        taken = cell_len(cell.text)
        if taken < room:
            kept.append(cell)
            room -= taken
            continue
        kept.append(Cell(crop(cell.text + ELLIPSIS, room), cell.tone, cell.bold))
        break
    return tuple(kept)


def wrap_line(line: Line, width: int) -> list[Line]:
    """Break a line at spaces into lines of at most `width` cells.

    What follows is indented like the first line's text, its leading sign not counted, so `▲ gone: …` hangs neatly.
    A word wider than the room is folded where the room ends: nothing is ever left out.
    """
    line = tuple(Cell(harmless(cell.text), cell.tone, cell.bold) for cell in line)
    if line_width(line) <= width or width <= 0:
        return [line]
    text = "".join(cell.text for cell in line)
    indent = cell_len(_lead(text))
    if indent > width // 2 or width - indent < 2:
        indent = 0
    wrapped: list[Line] = []
    for start, end in _breaks(text, width, indent):
        piece = _slice(line, start, end)
        wrapped.append((Cell(" " * indent), *piece) if wrapped and indent else piece)
    return wrapped


def _lead(text: str) -> str:
    found = _LEAD.match(text)
    return found.group() if found else ""


def _breaks(text: str, width: int, indent: int) -> Iterator[tuple[int, int]]:
    start, room = 0, width
    body = len(_lead(text))
    while start < len(text):
        end = max(_fitting(text, start, room), start + 1)
        following = end
        if end < len(text):
            space = text.rfind(" ", start, end + 1)
            if space > max(start, body - 1):
                end, following = space, space + 1
        yield start, end
        while following < len(text) and text[following] == " ":
            following += 1
        start, room, body = following, width - indent, 0


def _fitting(text: str, start: int, room: int) -> int:
    """Say how far text can be read from `start` within `room` cells."""
    if text.isascii():
        return min(len(text), start + room)
    end = min(len(text), start + room)
    while end < len(text) and cell_len(text[start : end + 1]) <= room:
        end += 1
    while end > start and cell_len(text[start:end]) > room:
        end -= 1
    return end


def _slice(line: Line, start: int, end: int) -> Line:
    pieces: list[Cell] = []
    place = 0
    for cell in line:
        piece = cell.text[max(0, start - place) : max(0, end - place)]
        if piece:
            pieces.append(Cell(piece, cell.tone, cell.bold))
        place += len(cell.text)
    return tuple(pieces)
