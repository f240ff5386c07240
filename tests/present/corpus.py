"""Names and values that try to do something to a screen, and what harmless means."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

HOSTILE: dict[str, bytes] = {
    "closing tag": b"[/x]",
    "opening tag": b"[b +",
    "bracket": b"[",
    "lone escape": b"\x1b",
    "OSC 52": b"\x1b]52;c;cm0gLXJmIC8=\x07",
    "OSC 0": b"\x1b]0;all is well\x1b\\",
    "CSI 2J": b"\x1b[2J\x1b[H",
    "C1 CSI": "\u009b2J".encode(),
    "C1 CSI, a byte": b"\x9b2J",
    "bidi override": "web-\u202e1".encode(),
    "zero-width joiner": "web-\u200d1".encode(),
    "private character": "\ue000\U000f0000".encode(),
    "line ends": "a\r\nb\u2028c\u2029d\x85e\x0b".encode(),
    "tab and delete": b"\t\x7f",
    "quotes": b"a'b\"c`d$(e)\\",
    "NUL": b"a\0b",
    "a long line": b"x" * 1_000_000,
    "a long line of escapes": b"\x1b" * 100_000,
    "invalid UTF-8": b"\xff\xfe\xc3(",
    "empty": b"",
    "spelled like empty": b"(empty)",
    "spelled like an escape": b"\\x1b",
    "surrogates": b"\xed\xa0\x80",
    "spaces": b"  ",
    "plain": b"web-1",
}
"""By what they are."""

_DOES_SOMETHING = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})

LONGEST = 6000
"""Characters that one run of text may have, whatever it is made from."""


def harm_in(text: str) -> list[str]:
    """The characters of a text that are no plain, visible ones."""
    return sorted({f"U+{ord(char):04X}" for char in text if unicodedata.category(char) in _DOES_SOMETHING})


def require_harmless(texts: Iterable[str]) -> None:
    """Fail where a text could do anything, or has no end."""
    for text in texts:
        assert not harm_in(text), (harm_in(text), text[:200])
        assert len(text) <= LONGEST, (len(text), text[:100])
