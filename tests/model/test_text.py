"""Text from outside does nothing on a screen and can be told apart; commands can be pasted."""

from __future__ import annotations

import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_console.model.text import duration, exact_duration, harmless, number, shell_word

HOSTILE = (
    b"[/x]",
    b"[b +",
    b"\x1b",
    b"\x1b]52;c;aGk=\x07",
    b"\x1b]0;title\x07",
    b"\x1b[2J",
    "\u009b2J".encode(),
    "\u202eabc".encode(),
    "a\u200db".encode(),
    b"\xff\xfe",
    b"",
    b"(empty)",
    b"\\x1b",
    b" a",
    b"a ",
    b"a",
    b"\x7f",
    b"a\nb",
    "a\u2028b".encode(),
    "a\u00a0b".encode(),
    "\ue000".encode(),
    "\u3164".encode(),
    b"\x00",
)


def test_hostile_texts_are_harmless_and_different() -> None:
    shown = [harmless(text) for text in HOSTILE]
    assert len(set(shown)) == len(HOSTILE)
    for text in shown:
        assert text
        assert text.isprintable(), text
        assert text == text.strip()
        assert not any(unicodedata.category(char) in ("Cf", "Cc", "Co", "Cn", "Zl", "Zp") for char in text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"web-3", "web-3"),
        (b"[/x]", "[/x]"),
        (b"\x1b[2J", "\\x1b[2J"),
        ("\u009b".encode(), "\\u009b"),
        (b"\x9b", "\\x9b"),
        ("\u202e".encode(), "\\u202e"),
        (b"a\\b", "a\\\\b"),
        (b"", "(empty)"),
        (b"(empty)", "\\x28empty)"),
        (b" a b ", "\\x20a b\\x20"),
        ("naïve 日本 🦊".encode(), "naïve 日本 🦊"),
        ("e\u0301".encode(), "e\u0301"),
        ("\u0301".encode(), "\\u0301"),
        (("e" + "\u0301" * 5).encode(), "e" + "\u0301" * 3 + "\\u0301" * 2),
        ("\U000e0041".encode(), "\\U000e0041"),
    ],
)
def test_what_is_shown(data: bytes, text: str) -> None:
    assert harmless(data) == text


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_two_values_never_look_the_same(one: bytes, other: bytes) -> None:
    assert (harmless(one) == harmless(other)) == (one == other)


@given(st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")), st.integers(1, 20))
def test_a_limit_is_kept_and_cuts_no_escape(data: bytes, limit: int) -> None:
    whole, cut = harmless(data), harmless(data, limit)
    assert len(cut) <= limit
    assert cut == whole or (cut.endswith("…") and whole.startswith(cut[:-1]))
    assert (cut == whole) == (len(whole) <= limit)


def test_a_cut_never_leaves_half_an_escape() -> None:
    assert harmless(b"ab\x1bcd", 5) == "ab…"
    assert harmless(b"ab\x1bcd", 7) == "ab\\x1b…"
    assert harmless(b"ab\x1bcd", 8) == "ab\\x1bcd"


def test_a_long_line_is_cut_without_being_read_whole() -> None:
    assert harmless(b"x" * 1_000_000 + b"\x1b", 10) == "x" * 9 + "…"
    assert harmless("日".encode() * 100_000, 10) == "日" * 9 + "…"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"orders", "orders"),
        (b"emq:{orders}:stream:events", "'emq:{orders}:stream:events'"),
        (b"it's", "'it'\"'\"'s'"),
        ("日本".encode(), "'日本'"),
        (b"a\x1bb", "$'a\\x1bb'"),
        (b"\xff'\\", "$'\\xff\\x27\\x5c'"),
        (b"", "''"),
        (b"a\x00b", None),
    ],
)
def test_shell_words(data: bytes, word: str | None) -> None:
    assert shell_word(data) == word


def test_a_shell_gives_the_very_bytes_back() -> None:
    names = [name for name in (*HOSTILE, b"$(reboot)", b"`x`", b"!!", b"~", b"a;b|c&d", bytes(range(1, 256))) if name]
    words = [word for word in map(shell_word, names) if word is not None]
    done = subprocess.run(["bash", "-c", r"printf '%s\0' " + " ".join(words)], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [name for name in names if b"\0" not in name]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-5, "0s"),
        (0, "0s"),
        (300, "0.3s"),
        (949, "0.9s"),
        (950, "1s"),
        (3_000, "3s"),
        (59_999, "59s"),
        (60_000, "1m 00s"),
        (842_000, "14m 02s"),
        (7_500_000, "2h 05m"),
        (273_600_000, "3d 04h"),
    ],
)
def test_durations(ms: int, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0ms"), (1_500, "1500ms"), (90_000, "90s"), (300_000, "5m"), (7_200_000, "2h"), (86_400_000, "1d")],
)
def test_durations_as_options(ms: int, text: str) -> None:
    assert exact_duration(ms) == text


def test_numbers() -> None:
    assert number(1_204) == "1,204"
