"""The log of a service: one line for what is worth noting, as text or as JSON."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from echomq_console.engine import events as ev
from echomq_console.model.encoding import iso_utc
from echomq_console.model.text import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_NAMES = {number: name for name, number in LEVELS.items()}

EVENT_LEVELS: Mapping[type[ev.Event], str] = {
    ev.Delivered: "debug",
    ev.Acknowledged: "debug",
    ev.Beat: "debug",
    ev.Claimed: "info",
    ev.Drained: "info",
    ev.GroupMade: "info",
    ev.Reconnected: "info",
    ev.Released: "info",
    ev.Disconnected: "warning",
    ev.Failed: "warning",
    ev.DeadLettered: "warning",
    ev.Ghost: "warning",
    ev.Lost: "warning",
    ev.DeadLetterFailed: "error",
}
"""How loud each of the engine's events is."""

TOLD_BY_EVENTS = frozenset(
    {
        ("consumer", "_pause"),
        ("recovery", "find_unseen"),
        ("session", "_on_lost"),
        ("settle", "_not_moved"),
        ("settle", "retire"),
    }
)
"""Where in the engine a log record goes with an event, which says the same with all its figures."""


class ServiceLog:
    """Writes lines of one format, from one level on. `write`: where a line goes."""

    def __init__(self, write: Callable[[bytes], None], *, form: str, level: str) -> None:
        self._write = write
        self._line = _json_line if form == "json" else _text_line
        self.level = LEVELS[level]
        self._levels = {kind: LEVELS[name] for kind, name in EVENT_LEVELS.items()}
        self._away = False

    def say(self, level: str, event: str, **said: Any) -> None:
        """Write a line, where its level is wanted."""
        if LEVELS[level] >= self.level:
            self._write(self.line(level, event, said))

    def line(self, level: str, event: str, said: Mapping[str, Any]) -> bytes:
        """Make a line."""
        return (self._line(level, event, said) + "\n").encode("utf-8", "backslashreplace")

    def listen(self, event: ev.Event) -> None:
        """Take one event of the engine. A server that stays away is said once, not at every attempt."""
        number = self._levels.get(type(event), logging.INFO)
        if isinstance(event, ev.Disconnected):
            number, self._away = (logging.DEBUG if self._away else number), True
        elif isinstance(event, ev.Reconnected):
            self._away = False
        if number >= self.level:
            said = event.as_dict()
            name, ids = said.pop("event"), said.pop("ids", None)
            if ids:
                said = {"count": len(ids), "first": ids[0], "last": ids[-1], **said}
            self.say(_NAMES[number], name, **said)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Take over what the engine logs and no event says."""
        logger = logging.getLogger("echomq_console")
        handler = _Hearing(self)
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.setLevel(self.level)
        logger.propagate = False  # a handler that sets up logging of its own would have every line twice
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before[0])
            logger.propagate = before[1]


class _Hearing(logging.Handler):
    def __init__(self, log: ServiceLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if (record.module, record.funcName) not in TOLD_BY_EVENTS:
            level = max((n for n in _NAMES if n <= record.levelno), default=logging.DEBUG)
            error = record.exc_info[1] if record.exc_info else None
            self._log.say(_NAMES[level], "engine", message=record.getMessage(), error=error and repr(error))


def _json_line(level: str, event: str, said: Mapping[str, Any]) -> str:
    values = {name: ev.plain(value) for name, value in said.items() if value is not None}
    return json.dumps({"at": _now(), "level": level, "event": event, **values}, separators=(",", ":"))


def _text_line(level: str, event: str, said: Mapping[str, Any]) -> str:
    words = [f"{name}={_word(value)}" for name, value in said.items() if value is not None]
    return " ".join((_now(), f"{level:7}", event, *words))


def _word(value: Any) -> str:
    """One value, harmless on a terminal, in quotes where it would not be one word."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = harmless(value if isinstance(value, bytes) else str(value))
    if any(c in text for c in ' "='):
        return '"' + text.replace('"', '\\"') + '"'
    return text


def _now() -> str:
    return iso_utc(time.time_ns() // 1_000_000)
