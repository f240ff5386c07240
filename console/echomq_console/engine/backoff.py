"""Backing off: which errors pass, and how long to wait before the next attempt."""

from __future__ import annotations

import random

from echomq_console.server.errors import Denied, Refused, ServerError, UnknownCommand, WrongType

_FIRST = 0.05
_MOST = 5.0


class Backoff:
    """Growing, capped, jittered pauses in seconds; many consumers that lost one server do not come back as one."""

    def __init__(self, first: float = _FIRST, most: float = _MOST) -> None:
        self._first = first
        self._most = most
        self.attempts = 0

    def reset(self) -> None:
        """Begin anew: an answer came."""
        self.attempts = 0

    def next(self) -> float:
        """Return the next pause."""
        self.attempts += 1
        pause = min(self._most, self._first * 2.0 ** min(self.attempts - 1, 20))
        return pause * random.uniform(0.5, 1.0)


def is_final(error: ServerError) -> bool:
    """Whether trying again cannot help: wrong type, wrong credentials, a missing permission, an unknown command."""
    return isinstance(error, WrongType | Refused | Denied | UnknownCommand)
