"""Entry ids: where an entry stands in its stream."""

from __future__ import annotations

from typing import NamedTuple

_MAX_PART = (1 << 64) - 1


class EntryId(NamedTuple):
    """A stream entry id, `<milliseconds>-<sequence>`; ids order as the server orders them.

    `ms` is Unix time in milliseconds where the server or an EchoMQ writer made the id; a writer may choose any number.
    """

    ms: int
    seq: int

    @classmethod
    def parse(cls, text: bytes | str) -> EntryId:
        """Read an id as the server writes it; a bare `<ms>` means sequence 0.

        Raises ValueError for anything else.
        """
        raw = text.encode("ascii", "replace") if isinstance(text, str) else text
        ms, dash, seq = raw.partition(b"-")
        if len(raw) > 100 or not ms.isdigit() or (dash and not seq.isdigit()):
            raise ValueError(f"not an entry id: {_shown(raw)} (an id looks like 1769526697641-0)")
        parsed = cls(int(ms), int(seq) if dash else 0)
        if parsed.ms > _MAX_PART or parsed.seq > _MAX_PART:
            raise ValueError(f"not an entry id: {_shown(raw)} (a part is over 64 bits)")
        return parsed

    def __str__(self) -> str:
        return f"{self.ms}-{self.seq}"

    def __bytes__(self) -> bytes:
        return b"%d-%d" % self

    def successor(self) -> EntryId:
        """Return the smallest id after this one."""
        return EntryId(self.ms + 1, 0) if self.seq == _MAX_PART else EntryId(self.ms, self.seq + 1)


ZERO = EntryId(0, 0)
"""Before every entry; also the cursor that means "start over"."""


def _shown(raw: bytes) -> str:
    text = raw[:60].decode("utf-8", "backslashreplace")
    return f"'{''.join(c if c.isprintable() else '?' for c in text)}'"
