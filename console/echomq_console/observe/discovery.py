"""Discovery: which streams there are, found by SCAN in small steps that go on for as long as the console looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from echomq_console.model.keys import dead_letter_key
from echomq_console.server.commands import Command, ScanPage, scan_streams

STEP = 500
"""Keys the server looks at in one step."""

FIRST_STEPS = 400
FIRST_SECONDS = 1.0
"""How many steps, and for how long, the first poll looks; the rest is left to the polls after it."""


class Discovery:
    """The search for streams: all of them, those matching a pattern, or exactly the given ones."""

    def __init__(self, match: bytes | None, streams: Sequence[bytes] | None) -> None:
        self._match = match
        self.given = tuple(dict.fromkeys(streams)) if streams is not None else None
        self.complete = self.given is not None
        self._cursor = 0

    def command(self) -> Command[ScanPage] | None:
        """The next step; None where there is nothing to search for."""
        return None if self.given is not None else scan_streams(self._cursor, count=STEP, match=self._match)

    def take(self, page: ScanPage) -> tuple[bytes, ...]:
        """Go on behind a page; returns the keys it found."""
        self._cursor = page.cursor
        self.complete = self.complete or page.cursor == 0
        return page.keys

    def restart(self) -> None:
        """Begin again: the server may be another one by now."""
        self._cursor = 0
        self.complete = self.given is not None

    def implied(self, keys: Iterable[bytes]) -> tuple[bytes, ...]:
        """Dead-letter streams that a narrowed search would not find by itself, because their names differ."""
        if self.given is None and self._match is None:
            return ()
        return tuple(map(dead_letter_key, keys))
