"""Events: what a consumer did, typed, for logs, metrics and screens.

A listener is called from the event loop and must be quick. `id` is always the stream entry id.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Event:
    """The base of all events."""

    def as_dict(self) -> dict[str, Any]:
        """Say it as plain data for one JSON line: `event`, then the fields; bytes that are not UTF-8 as base64."""
        said: dict[str, Any] = {"event": _snake(type(self).__name__)}
        for part in fields(self):
            said[part.name] = plain(getattr(self, part.name))
        return said


@dataclass(frozen=True, slots=True)
class Delivered(Event):
    """A handler begins: the entry's id, its own id (`entry`: the branded one, if it has it), and its delivery count."""

    id: str
    entry: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Acknowledged(Event):
    """A batch was acknowledged after `Ok`. `already`: how many of them were settled before (XACK answered 0)."""

    ids: tuple[str, ...]
    already: int = 0


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """A handler answered `Error`; the entry stays pending, or goes to the dead letters where `retry` is False."""

    id: str
    attempts: int
    reason: str
    retry: bool = True


@dataclass(frozen=True, slots=True)
class Claimed(Event):
    """The beat, an autoclaim or a recovery took entries; `how` says which: `beat`, `autoclaim` or `recovery`."""

    ids: tuple[str, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Lost(Event):
    """An entry in hand now belongs to somebody else, or is pending no more. `running`: its handler had begun."""

    id: str
    running: bool


@dataclass(frozen=True, slots=True)
class DeadLettered(Event):
    """An entry was moved to the dead letters, under `dead_id` there; `attempts` is its delivery count."""

    id: str
    dead_id: str
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True)
class DeadLetterFailed(Event):
    """An entry should have gone to the dead letters and could not: it is still pending. `problem` says why."""

    id: str
    reason: str
    problem: str


@dataclass(frozen=True, slots=True)
class Ghost(Event):
    """An entry is pending but was deleted from the stream: no handler sees it, its row is taken off the list."""

    id: str


@dataclass(frozen=True, slots=True)
class Released(Event):
    """Entries that were fetched and not begun were given back, with the counts they had before."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disconnected(Event):
    """The server could not be reached; the consumer goes on trying. `seconds`: the pause before the next attempt."""

    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Reconnected(Event):
    """The server answers again, after `attempts` attempts."""

    attempts: int


@dataclass(frozen=True, slots=True)
class Drained(Event):
    """The consumer has been through its own pending list, and turns to new entries."""

    delivered: int


@dataclass(frozen=True, slots=True)
class Beat(Event):
    """A beat is over: `found` entries in `calls` calls; it goes on at `cursor` next time."""

    found: int
    calls: int
    cursor: str


@dataclass(frozen=True, slots=True)
class GroupMade(Event):
    """The group was made: at the door, or again (`again`) after it was lost."""

    start: str
    again: bool = False


Listener: TypeAlias = Callable[[Event], None]


def plain(value: Any) -> Any:
    """Say a value as plain data: bytes as text where they are UTF-8, else as `{"base64": ...}`."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
