"""Turns: what waits for a handler, and what a handler is busy with."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple


class Slice:
    """A few taken entries whose end is waited for."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def one_done(self) -> None:
        """Count one entry as dealt with."""
        self.left -= 1
        if self.left <= 0:
            self.give_up()

    def give_up(self) -> None:
        """Let whoever waits go on."""
        if not self.done.done():
            self.done.set_result(None)


class Turn(NamedTuple):
    """A taken entry that waits for its turn: `before` and `idle_ms` are what giving it back restores."""

    id: bytes
    fields: list[bytes]
    attempts: int
    before: int
    idle_ms: int
    slice: Slice


class Slot:
    """One handler at a time: what it runs, since when, and what its task and thread are."""

    __slots__ = ("attempts", "cut", "entry_id", "since", "task", "thread")

    def __init__(self) -> None:
        self.entry_id: bytes | None = None
        self.attempts = 0
        self.since = 0.0
        self.cut = ""
        """Why the engine cancelled the handler; empty: it did not."""
        self.task: asyncio.Task[None] | None = None
        self.thread: asyncio.Future[Any] | None = None
