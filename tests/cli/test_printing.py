"""Printing: as wide as the terminal, uncut without one, and never anything that drives a terminal."""

from __future__ import annotations

import io
import json
import re

import pytest

from echomq_console.cli.printing import Printer, table_lines
from echomq_widgets.views import Cell, Column, PlanView, Row, TableView, TextView

LONG = "a command that nobody would want to be folded anywhere at all: " + "x" * 60

TABLE = TableView(
    (
        Column("id", "id", 4),
        Column("name", "the name", 6, flex=True),
        Column("n", "count", 5, "right"),
        Column("x", "x", 9, drop=1),
    ),
    (
        Row(1, (Cell("1"), Cell("short"), Cell("7"), Cell("dropped"))),
        Row(2, (Cell("2"), Cell("n" * 40), Cell("12"), Cell(""))),
    ),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    return Terminal()


def printed(file: io.StringIO) -> list[str]:
    return re.sub("\x1b\\[[0-9;]*m", "", file.getvalue()).splitlines()


def test_without_a_terminal_nothing_is_cut_or_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    file = io.StringIO()
    printer = Printer(file)
    printer.table(TABLE)
    printer.lines([(Cell(LONG, "bad"),)])
    assert printed(file) == [
        f"id  {'the name':40}  count  x",
        f"1   {'short':40}      7  dropped",
        f"2   {'n' * 40}     12  ",
        LONG,
    ]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, [f"id  {'the name':20}  count  x", f"1   {'short':20}      7  dropped", f"2   {'n' * 19}…     12  "]),
        (20, [f"id  {'the name':9}  count", f"1   {'short':9}      7", f"2   {'n' * 8}…     12"]),
    ],
)
def test_on_a_terminal_what_fits_is_shown(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, width: int, lines: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Printer(terminal).table(TABLE)
    assert [line.rstrip() for line in printed(terminal)] == [line.rstrip() for line in lines]


def test_words_are_folded_at_spaces_and_hang(terminal: Terminal) -> None:
    Printer(terminal).text(TextView(((Cell("  words " * 12),),)))
    lines = printed(terminal)
    assert len(lines) > 1
    assert all(len(line) <= 40 and line.startswith("  words") for line in lines)


def test_a_command_is_left_whole(terminal: Terminal) -> None:
    printer = Printer(terminal)
    printer.lines([(Cell("  $ ", "dim"), Cell(LONG, "accent"))])
    printer.plan(PlanView("Drain web-1", "s › g", summary=(), commands=(LONG,)))
    assert printed(terminal).count(f"  $ {LONG}") == 2


def test_tones_have_styles_on_a_terminal_and_none_with_no_color(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    Printer(terminal).say("stuck", "bad")
    assert terminal.getvalue() == "\x1b[1;31mstuck\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    Printer(plain).say("stuck", "warn")
    assert "3" not in plain.getvalue()  # no colour; weight may stay


def test_what_a_view_lets_through_is_stopped_here() -> None:
    file = io.StringIO()
    Printer(file).say("\x1b[2J[/x][red]:smile:\x07\u009b")
    assert printed(file) == ["\ufffd[2J[/x][red]:smile:\ufffd\ufffd"]
    (heading, row) = table_lines(TableView((Column("a", "a", 1),), (Row(1, (Cell("\x1b"),)),)), 80)
    assert row == (Cell("\ufffd"),)
    assert heading[0].text == "a"


def test_a_plan_says_everything() -> None:
    file = io.StringIO()
    sample = TableView((Column("e", "entry", 5),), (Row(1, (Cell("1-0"),)),), total=12)
    Printer(file).plan(
        PlanView("Drain", "s › g", ((Cell("what"),),), ("careful",), ("sure",), ("XACK s g <id>",), sample, 12)
    )
    assert printed(file) == [
        *("Drain  s › g", "  what", "  ⚠ careful", "  ✓ sure", "", "  entry", "  1-0", "  … and 11 more", ""),
        "  $ XACK s g <id>",
    ]


def test_an_empty_table_says_why() -> None:
    file = io.StringIO()
    Printer(file).table(TableView(TABLE.columns, (), empty=(Cell("nothing is pending"),)))
    assert printed(file) == ["nothing is pending"]


def test_json_keeps_every_character_and_is_one_document() -> None:
    file = io.StringIO()
    Printer(file).json({"name": "é\x1b", "n": 2**70})
    assert json.loads(file.getvalue()) == {"name": "é\x1b", "n": 2**70}
    assert "\x1b" not in file.getvalue()
