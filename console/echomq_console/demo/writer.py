"""An EchoMQ writer, as small as one can be: branded ids, and the entry ids derived from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from echomq_console.model.branded import BrandedId, mint
from echomq_console.server.wire import Arg

Clock: TypeAlias = Callable[[], int]
"""Tells Unix milliseconds."""

_SEQUENCES = 4096


def wall_clock() -> int:
    """Tell Unix milliseconds by this machine's clock."""
    return time.time_ns() // 1_000_000


class Writer:
    """Spells the XADD of one entry after another; its ids rise even where the clock stands still or steps back."""

    def __init__(self, stream: bytes, *, node: int = 1) -> None:
        self.stream = stream
        self._node = node
        self._last = (0, 0)

    def mint(self, now_ms: int) -> BrandedId:
        """Make the next branded id."""
        last_ms, last_sequence = self._last
        if now_ms > last_ms:
            self._last = (now_ms, 0)
        elif last_sequence + 1 < _SEQUENCES:
            self._last = (last_ms, last_sequence + 1)
        else:
            self._last = (last_ms + 1, 0)
        ms, sequence = self._last
        return mint(ms, node=self._node, sequence=sequence)

    def append(self, data: bytes, now_ms: int) -> tuple[Arg, ...]:
        """Spell the command that appends an entry: `id` first, then its payload."""
        branded = self.mint(now_ms)
        return ("XADD", self.stream, bytes(branded.entry_id), "id", str(branded), "data", data)
