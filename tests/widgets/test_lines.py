"""Text in cells: cropped, padded and wrapped by what a terminal shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from echomq_widgets.lines import crop, crop_line, fit, harmless, line_width, wrap_line
from echomq_widgets.views import Cell, Line

TEXTS = st.text(st.sampled_from("ab c日本é…👩🚀[/]\n\x1b"), max_size=30)
LINES = st.lists(TEXTS.map(lambda text: Cell(text, "good")), max_size=4).map(tuple)


def plain(line: Line) -> str:
    return "".join(cell.text for cell in line)


@pytest.mark.parametrize(
    ("text", "width", "cropped"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本", 1, "…"),
        ("ab", 0, ""),
    ],
)
def test_crop(text: str, width: int, cropped: str) -> None:
    assert crop(text, width) == cropped


@given(TEXTS, st.integers(0, 40), st.sampled_from(["left", "right"]))
def test_fit_is_exact(text: str, width: int, align: str) -> None:
    fitted = fit(text, width, "right" if align == "right" else "left")
    assert cell_len(fitted) == width
    assert "\n" not in fitted
    assert "\x1b" not in fitted


def test_fit_aligns() -> None:
    assert fit("7", 3, "right") == "  7"
    assert fit("7", 3) == "7  "


@given(LINES, st.integers(0, 40))
def test_crop_line_fits(line: Line, width: int) -> None:
    line = tuple(Cell(harmless(cell.text), cell.tone) for cell in line)
    cropped = crop_line(line, width)
    assert line_width(cropped) <= width
    assert cropped == line if line_width(line) <= width else plain(cropped).endswith("…") or width == 0


@given(LINES, st.integers(2, 40))
def test_wrapping_leaves_nothing_out(line: Line, width: int) -> None:
    pieces = wrap_line(line, width)
    assert all(line_width(piece) <= width for piece in pieces)
    whole = "".join(plain(piece) for piece in pieces)
    assert whole.replace(" ", "") == harmless(plain(line)).replace(" ", "")


def test_wrapping_hangs_under_the_text() -> None:
    line = (Cell("▲ ", "bad"), Cell("gone: web-3 holds 1,197 entries"))
    assert [plain(piece) for piece in wrap_line(line, 16)] == ["▲ gone: web-3", "  holds 1,197", "  entries"]
    assert [plain(piece) for piece in wrap_line((Cell("  one two three"),), 9)] == ["  one two", "  three"]
    pieces = wrap_line((Cell("  aaa bbbbb cc dddd"),), 9)
    assert [plain(piece) for piece in pieces] == ["  aaa", "  bbbbb", "  cc dddd"]


def test_wrapping_folds_a_word_that_is_too_long() -> None:
    assert [plain(piece) for piece in wrap_line((Cell("abcdefgh ij"),), 5)] == ["abcde", "fgh", "ij"]


def test_wrapping_keeps_the_tones() -> None:
    pieces = wrap_line((Cell("one ", "good"), Cell("two", "bad", bold=True)), 4)
    assert pieces[1] == (Cell("two", "bad", bold=True),)
