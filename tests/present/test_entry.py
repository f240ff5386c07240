"""An entry in full: every pair, nothing lost, nothing rewritten."""

from __future__ import annotations

import json

import pytest

from echomq_console.model.branded import mint
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import PendingEntry
from echomq_console.observe.look import Holding, Standing
from echomq_console.present.entry import pairs_text, whereabouts_text
from echomq_console.present.json_layout import laid_out

from .conftest import NOW_MS


def _value(value: bytes) -> list[str]:
    """The lines a value is shown on."""
    return ["".join(cell.text for cell in line)[2:] for line in pairs_text(((b"n", value),)).lines[1:]]


def test_pairs_in_order_repeated_names_included() -> None:
    view = pairs_text(((b"n", b"1"), (b"", b""), (b"n", b"22")))
    assert ["".join(cell.text for cell in line) for line in view.lines] == [
        "n  1 byte",
        "  1",
        "(empty)  0 bytes",
        "  (empty)",
        "n  2 bytes",
        "  22",
    ]


def test_no_pairs() -> None:
    assert [line[0].text for line in pairs_text(()).lines] == ["no fields"]


def test_json_is_laid_out() -> None:
    assert _value(b'{"a":[1,{"b":null}],"c":{},"d":[],"e":"x, [y] {z}: \\" w"}') == [
        "{",
        '  "a": [',
        "    1,",
        "    {",
        '      "b": null',
        "    }",
        "  ],",
        '  "c": {},',
        '  "d": [],',
        r'  "e": "x, [y] {z}: \\" w"',
        "}",
    ]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b'{"a":1,"a":2}', ['"a": 1,', '"a": 2']),
        (b'{"total": 1.10}', ['"total": 1.10']),
        (b'{"total": 1e400}', ['"total": 1e400']),
        (b'{"total": 1E+2}', ['"total": 1E+2']),
        (b'{"total": -0}', ['"total": -0']),
        (b'{"total": 0.1000000000000000055511151231257827}', ["0.1000000000000000055511151231257827"]),
        (b'{"id": 12345678901234567890123}', ['"id": 12345678901234567890123']),
        (b"[NaN, -Infinity]", ["NaN,", "-Infinity"]),
    ],
)
def test_json_numbers_and_repeated_keys_stay_as_they_came(value: bytes, kept: list[str]) -> None:
    lines = [line.strip() for line in _value(value)]
    assert len(lines) > 2
    for each in kept:
        assert any(each in line for line in lines), lines


def test_json_text_reads_as_text_and_does_nothing() -> None:
    value = json.dumps({"a": "é漢", "b": "\x1b[2J\u202e\u009b"}).encode()
    assert value.isascii()
    lines = _value(value)
    assert '  "a": "é漢",' in lines
    assert any(r"\u202e\u009b" in line for line in lines)
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "value",
    [
        b"{",
        b'{"a":1',
        b"{'a': 1}",
        b"5",
        b'"text"',
        b"null",
        b'{"a":1} x',
        '{"a": "é"}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": %s}' % (b"9" * 5000),
    ],
)
def test_what_is_no_json_object_is_shown_as_it_is(value: bytes) -> None:
    lines = _value(value)
    assert len(lines) == 1
    assert lines[0][:1] == value.decode("utf-8", "backslashreplace")[:1] or lines[0].startswith("\\")


def test_a_long_value_says_how_long_it_is() -> None:
    (line,) = _value(b"x" * 1_000_000)
    assert line.endswith("… (1,000,000 bytes in all)")
    assert len(line) < 4_100
    lines = _value(json.dumps(list(range(1000))).encode())
    assert len(lines) == 401
    assert lines[-1] == "… (cut: 4,890 bytes in all)"
    assert len(_value(json.dumps(list(range(398))).encode())) == 400


def test_many_fields_say_how_many_more() -> None:
    lines = pairs_text(tuple((b"n%d" % number, b"1") for number in range(1500))).lines
    assert lines[-1][0].text == "… and 500 more fields"
    assert len(lines) == 2001
    assert "more" not in pairs_text(tuple((b"n", b"1") for _ in range(1000))).lines[-1][0].text


@pytest.mark.parametrize("value", ["[[[1]]]", '{"a":{"b":[]}}', '[{"a":[{}]},[]]', "[]", "{}", ' [ 1 , "a" ] '])
def test_a_layout_says_the_same(value: str) -> None:
    lines = list(laid_out(value))
    assert json.loads("".join(text for _, text in lines)) == json.loads(value)
    assert lines[0][0] == lines[-1][0] == 0
    assert "\n".join("  " * depth + text for depth, text in lines) == json.dumps(json.loads(value), indent=2)


def _lines(view_lines: tuple[tuple[object, ...], ...]) -> str:
    return "\n".join("".join(getattr(cell, "text", "") for cell in line) for line in view_lines)


def test_where_it_is_in_each_group() -> None:
    branded = mint(NOW_MS - 60_000, node=7, sequence=3)
    holdings = [
        Holding(b"billing", Standing.PENDING, PendingEntry(branded.entry_id, b"web-1", 30_000, 2)),
        Holding(b"mail", Standing.ACKNOWLEDGED),
        Holding(b"audit", Standing.NOT_DELIVERED),
    ]
    said = _lines(whereabouts_text(branded.entry_id, ((b"id", str(branded).encode()),), holdings, NOW_MS).lines)
    assert f"branded id {branded}" in said
    assert "minted 2026-01-27 15:10:37 UTC, 1m 00s ago" in said
    assert "node 7  sequence 3" in said
    assert "▲ billing  pending with web-1" in said
    assert "idle 30s, delivered 2 times" in said
    assert "● mail  acknowledged" in said
    assert "○ audit  not yet delivered" in said
    assert "its own entry id" not in said


def test_an_entry_under_another_id_says_so() -> None:
    branded = mint(NOW_MS - 60_000)
    said = _lines(whereabouts_text(EntryId(5, 0), ((b"id", str(branded).encode()),), [], NOW_MS).lines)
    assert f"its own entry id is {branded.entry_id}" in said
    assert "no group reads this stream" in said


def test_a_ghost_is_called_one() -> None:
    said = _lines(whereabouts_text(EntryId(5, 0), None, [], NOW_MS).lines)
    assert "gone from the stream" in said


@pytest.mark.parametrize("ms", [0, 253_402_300_800_000, (1 << 64) - 1])
def test_ids_that_are_no_moments(ms: int) -> None:
    """A writer may choose any number for an id."""
    said = _lines(whereabouts_text(EntryId(ms, 0), (), [], NOW_MS).lines)
    assert f"entry {ms}-0" in said
