"""Text: server bytes made harmless, and numbers and durations as people read them.

A name or a value on a server may hold anything: escape sequences that drive a terminal, marks that turn the reading
direction, characters nobody sees. What goes to a screen, a log or a shell goes through here first.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator

EMPTY = "(empty)"
"""What an empty name or value is shown as; a name that is spelled like this is shown with an escape."""

_PLAIN = re.compile(rb"[!-\[\]-~]|[!-\[\]-~][ -\[\]-~]*[!-\[\]-~]")
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_MOST_MARKS = 3
_PLAIN_IN_QUOTES = frozenset(range(0x20, 0x7F)) - frozenset(b"'\\\\")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def harmless(data: bytes | str, limit: int | None = None) -> str:
    r"""Show bytes from outside as text that does nothing and can be told apart.

    Two different values never give the same text (unless cut). Kept: printable UTF-8. Escaped: controls (`\x1b`,
    `\n`, `\u009b`), DEL, everything that turns the direction or has no width (`\u202e`, `\u200d`), line separators,
    every space but the ordinary one, unassigned and private characters, piles of combining marks, bytes that are no
    UTF-8 (`\xff`), the backslash itself (`\\`), and a space at either end (`\x20`). Empty is `(empty)`.

    `limit`: at most so many characters; what was cut ends in `…`, and an escape is never cut in two.
    """
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if raw == EMPTY.encode():
        return _cut(iter(("\\x28", *EMPTY[1:])), limit)
    if not raw:
        return _cut(iter(EMPTY), limit)
    if limit is not None and len(raw) > (needed := 4 * limit + 8):
        raw = raw[:needed]  # a character has four bytes at most: what the limit shows is in here
    if (limit is None or len(raw) <= limit) and _PLAIN.fullmatch(raw):
        return raw.decode("ascii")
    return _cut(_parts(raw), limit)


def shell_word(data: bytes | str) -> str | None:
    r"""Quote bytes as one word of a shell (bash, zsh, ksh), safe to paste.

    Text that can be seen is quoted plainly, anything else as `$'\x1b'`. None where the bytes hold a NUL, which no
    command line can carry.
    """
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if b"\0" in raw:
        return None
    text = raw.decode("utf-8", "surrogateescape")
    if (text.isascii() and text.isprintable()) or not any(map(_is_unseen, text)):  # quick first: names may be long
        return shlex.quote(text)
    return "$'" + "".join(chr(byte) if byte in _PLAIN_IN_QUOTES else f"\\x{byte:02x}" for byte in raw) + "'"


def duration(ms: int) -> str:
    """Say a length of time (milliseconds) in its two greatest units: 0.3s, 3s, 14m 02s, 2h 05m, 3d 04h."""
    if ms < 950:
        tenths = round(max(ms, 0) / 100)
        return f"0.{tenths}s" if tenths else "0s"
    seconds = max(ms // 1000, 1)
    if seconds < 60:
        return f"{seconds}s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}m {seconds:02d}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{days}d {hours:02d}h"


def exact_duration(ms: int) -> str:
    """Spell a length of time (milliseconds) as options take it, exactly: 5m, 90s, 1500ms."""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if ms and ms % size == 0:
            return f"{ms // size}{unit}"
    return f"{ms}ms"


def number(n: int) -> str:
    """Write a number with thousands separated: 1,204."""
    return f"{n:,}"


def _parts(raw: bytes) -> Iterator[str]:
    """Yield what is shown, a character or a whole escape at a time."""
    text = raw.decode("utf-8", "surrogateescape")
    last = len(text) - 1
    marks = _MOST_MARKS  # a mark at the very start has nothing to stand on
    for index, char in enumerate(text):
        if unicodedata.category(char) in ("Mn", "Me"):
            marks += 1
            yield _escape(char) if marks > _MOST_MARKS or _is_unseen(char) else char
        elif _is_unseen(char) or char == "\\" or (char == " " and index in (0, last)):
            marks = _MOST_MARKS
            yield _escape(char)
        else:
            marks = 0
            yield char


def _is_unseen(char: str) -> bool:
    return char != " " and (char in _INVISIBLE or unicodedata.category(char) in _ESCAPED_CATEGORIES)


def _escape(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _cut(parts: Iterator[str], limit: int | None) -> str:
    if limit is None:
        return "".join(parts)
    kept: list[str] = []
    used = 0
    for part in parts:
        if used + len(part) > limit:
            while kept and used >= limit:
                used -= len(kept.pop())
            return ("".join(kept) + "…")[:limit]
        kept.append(part)
        used += len(part)
    return "".join(kept)
