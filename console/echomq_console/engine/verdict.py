"""What a handler answers, and the choices a consumer is started with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from echomq_console.model.entry_id import EntryId


@dataclass(frozen=True, slots=True)
class Ok:
    """The entry is done: it is acknowledged."""


@dataclass(frozen=True, slots=True)
class Error:
    """The entry is not done: it stays pending and is tried again by a later drain or beat.

    `reason` is one line for logs and dead letters. `retry=False`: it goes to the dead letters at once; without a
    dead-letter policy it stays pending, and that is logged.
    """

    reason: str
    retry: bool = True


Verdict: TypeAlias = Ok | Error


class Start(Enum):
    """Where a group begins that does not exist yet."""

    NEW = "$"
    """Only what is appended from now on."""

    HEAD = "0"
    """Everything the stream still holds."""


StartAt: TypeAlias = "Start | EntryId | str"
"""A `Start`, or an entry id: the group begins after it."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """The dead-letter policy: an entry delivered `max_attempts` times goes there before its handler runs again.

    Raises ValueError for a limit below 1.
    """

    max_attempts: int

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError("max_attempts is at least 1: a handler runs once before an entry is given up")
