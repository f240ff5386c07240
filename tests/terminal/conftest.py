"""What the terminal's tests share: the app on a stage, driven by keys and read as text, and groups to look at."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets._toast import Toast

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.app import ConsoleApp, Start
from echomq_widgets.table import WindowedTable

WAIT = 40.0
"""Seconds that anything is waited for; the machine may be shared."""

T = Thresholds(job_ms=300, stalled_ms=600_000)
"""T of 0.3 s: entries are overdue as soon as they are looked at."""

ScreenKind = TypeVar("ScreenKind", bound=Screen[Any])


class Stage:
    """A running app: press keys, read the screen."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """The lines of the screen, as they are drawn."""
        width, height = self.app.size
        strips = self.app.screen._compositor.render_strips()
        return [strip.crop(0, width).text for strip in strips[:height]]

    @property
    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines)

    @property
    def toasts(self) -> str:
        """What was said in passing, all of it."""
        return "\n".join(f"{note.title}: {note.message}" for note in self.app._notifications)

    def line(self, part: str) -> str:
        """The first line that holds a text; empty where none does."""
        return next((line for line in self.lines if part in line), "")

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other, each when what the last one did is done."""
        for key in keys:
            self.send(key)
            await self.settle()

    def send(self, key: str) -> None:
        """Press a key and wait for nothing: the app may end by it."""
        char = key if len(key) == 1 else None
        name = key if key.isalnum() or char is None else _character_to_key(key)
        self.app.post_message(events.Key(name, char))

    async def settle(self) -> None:
        """Let every message be handled that is under way, and what those set off.

        The pilot's own way waits until the process is idle, which an app that polls is not.
        """
        for _ in range(3):
            handled = asyncio.Event()
            self.app.call_later(handled.set)
            async with asyncio.timeout(WAIT):
                await handled.wait()
            await self.pilot.pause(0)

    async def until(self, what: str | Callable[[str], bool], seconds: float = WAIT) -> str:
        """Wait until the screen shows a text, or fulfils a condition; fails with the screen as it was."""
        holds: Callable[[str], bool] = (lambda text: what in text) if isinstance(what, str) else what
        try:
            async with asyncio.timeout(seconds):
                while not holds(self.text):
                    await asyncio.sleep(0.02)
                    await self.pilot.pause(0)
        except TimeoutError:
            pytest.fail(f"the screen never showed {what}:\n{self.text}\n{self.toasts}")
        return self.text

    async def until_toast(self, what: str) -> str:
        """Wait until something is said in passing, and is seen on the screen."""
        await self.until(lambda _: what in self.toasts)
        said = next(note.message for note in self.app._notifications if what in f"{note.title}: {note.message}")
        first = said.split()[0]
        await self.until(lambda text: bool(self.app.screen.query(Toast)) and first in text)
        return said

    async def until_screen(self, kind: type[ScreenKind]) -> ScreenKind:
        """Wait until a screen of a kind is on top, and drawn."""
        await self.until(lambda _: isinstance(self.app.screen, kind))
        await self.settle()
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    async def polls(self, count: int) -> None:
        """Wait for so many more pictures."""
        for _ in range(count):
            last = self.app._picture.snapshot
            await self.until(lambda _, last=last: self.app._picture.snapshot is not last)  # type: ignore[misc]
        await self.settle()

    def table(self, name: str = "groups") -> WindowedTable:
        """A table of the screen."""
        return self.app.screen.query_one(f"#{name}", WindowedTable)


class OpenApp(Protocol):
    """Opens the app on a server."""

    def __call__(
        self,
        url: str,
        size: tuple[int, int] = (120, 36),
        *,
        thresholds: Thresholds = T,
        handler: str | None = None,
        read_only: bool = False,
        period: float = 0.05,
    ) -> AbstractAsyncContextManager[Stage]: ...


@pytest.fixture
def open_app() -> OpenApp:
    @asynccontextmanager
    async def opened(
        url: str,
        size: tuple[int, int] = (120, 36),
        *,
        thresholds: Thresholds = T,
        handler: str | None = None,
        read_only: bool = False,
        period: float = 0.05,
    ) -> AsyncIterator[Stage]:
        app = ConsoleApp(Start(url, url.rpartition("@")[2], thresholds, handler, read_only), period=period)
        async with app.run_test(size=size, notifications=True) as pilot:
            yield Stage(app, pilot)

    return opened


@pytest.fixture(autouse=True)
def audit_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The audit log of every test is its own."""
    path = tmp_path / "audit" / "audit.jsonl"
    monkeypatch.setenv("ECHOMQ_AUDIT", str(path))
    return path


def audited(path: Path) -> list[dict[str, Any]]:
    """The lines of an audit log; none where nothing was written."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture
async def own_wire(own_server: EmbeddedServer) -> AsyncIterator[Wire]:
    """A connection to a Valkey for one test alone."""
    connection = Wire(Address.parse(own_server.url))
    yield connection
    await connection.close()


async def add(wire: Wire, stream: bytes, count: int, *pairs: bytes) -> tuple[EntryId, ...]:
    """Append entries; each has the pairs, or else `n` with its number."""
    added = await wire.pipeline([("XADD", stream, "*", *(pairs or (b"n", b"%d" % n))) for n in range(count)])
    return tuple(map(EntryId.parse, added))


async def hold(
    wire: Wire,
    stream: bytes,
    group: bytes = b"g",
    consumer: bytes = b"c",
    count: int = 1,
    *,
    pairs: tuple[bytes, ...] = (),
    deliveries: int = 1,
) -> tuple[EntryId, ...]:
    """Let a consumer of a (new) group receive entries and keep them: after T it is not seen, and holds what is idle."""
    await wire.pipeline([("XGROUP", "CREATE", stream, group, "$", "MKSTREAM")])
    ids = await add(wire, stream, count, *pairs)
    await wire.call("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", stream, ">")
    if deliveries > 1:
        old = ("IDLE", 60_000, "RETRYCOUNT", deliveries, "JUSTID")
        await wire.call("XCLAIM", stream, group, consumer, 0, *map(bytes, ids), *old)
    return ids


async def settle(wire: Wire, stream: bytes, group: bytes = b"g", consumer: bytes = b"c", count: int = 1) -> None:
    """Let a consumer of a (new) group receive entries and acknowledge them."""
    ids = await hold(wire, stream, group, consumer, count)
    await wire.call("XACK", stream, group, *map(bytes, ids))


async def pending(wire: Wire, stream: bytes, group: bytes = b"g") -> list[tuple[bytes, bytes, int]]:
    """The pending list: id, owner, delivery count."""
    rows = await wire.call("XPENDING", stream, group, "-", "+", 10_000)
    return [(entry_id, owner, count) for entry_id, owner, _, count in rows]


@asynccontextmanager
async def reading(wire: Wire, stream: bytes, group: bytes, consumer: bytes) -> AsyncIterator[None]:
    """Keep a consumer trying to read, as a living one does."""

    async def read() -> None:
        while True:
            await wire.call("XREADGROUP", "GROUP", group, consumer, "COUNT", 1, "STREAMS", stream, ">")
            await asyncio.sleep(0.05)

    task = asyncio.create_task(read())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
