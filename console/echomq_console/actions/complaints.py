"""A child's standard error, read to its last line, and never waited for longer than the child lives."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_MOMENT = 1.0
"""Seconds to wait for last words after the end: a process the handler left behind may hold the pipe for ever."""


class Complaints:
    """What a child says on standard error; a handler may print there for hours, so only the tail is kept.

    A pipe of our own: asyncio takes a child for ended only when every pipe it made for it is closed.
    """

    def __init__(self, ended: asyncio.Event, writing: int) -> None:
        self.tail = b""
        self.writing = writing
        self._ended = ended

    def close_end(self) -> None:
        """Close the child's end here; the child has it."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1

    async def last_line(self) -> str:
        """Return the last line it said, as one printable line; called when the child has ended."""
        try:
            async with asyncio.timeout(_MOMENT):
                await self._ended.wait()
        except TimeoutError:
            pass
        lines = [line for line in self.tail.decode("utf-8", "replace").splitlines() if line.strip()]
        last = lines[-1] if lines else ""
        return "".join(c if c.isprintable() else " " for c in last).removeprefix("echomq-console: ")


class _Reading(asyncio.Protocol):
    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.complaints: Complaints | None = None

    def data_received(self, data: bytes) -> None:
        if self.complaints is not None:
            self.complaints.tail = (self.complaints.tail + data)[-4096:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


@asynccontextmanager
async def complaints_pipe() -> AsyncIterator[Complaints]:
    """Open the pipe; `writing` is the end to give to the child."""
    reading, writing = os.pipe()
    protocol = _Reading()
    complaints = protocol.complaints = Complaints(protocol.ended, writing)
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: protocol, os.fdopen(reading, "rb", buffering=0)
        )
        try:
            yield complaints
        finally:
            transport.close()
    finally:
        complaints.close_end()
