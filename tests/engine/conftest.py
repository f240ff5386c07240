"""What the engine's tests share: pending lists set up as wished, handlers that remember, a proxy that loses answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from echomq_console.engine import Consumer, Entry, Error, Event, Ok, Verdict
from echomq_console.server.address import Address
from echomq_console.server.commands import pending_range
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

PATIENCE = 20.0
"""Seconds a condition may take on a busy machine; a test that waits this long has failed."""


async def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for a condition of this process."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # any condition of any object, not one that signals
            await asyncio.sleep(0.002)


async def until_async(condition: Callable[[], Awaitable[object]], seconds: float = PATIENCE) -> None:
    """Wait for a condition that is asked of the server."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110  # the server does not signal
            await asyncio.sleep(0.005)


class Lab:
    """A stream and a group `g` on a server, and the ways to look at them. `names`: consumer, group, as options."""

    def __init__(self, url: str, stream: bytes) -> None:
        self.address = Address.parse(url)
        self.wire = Wire(self.address)
        self.stream = stream
        self.dead_key = b"{" + stream + b"}:dead"

    def of(self, name: str) -> dict[str, Any]:
        """The options that name this stream, group and a consumer."""
        return {"stream": self.stream, "group": "g", "name": name}

    async def make_group(self, group: str = "g") -> None:
        await self.wire.call("XGROUP", "CREATE", self.stream, group, "0", "MKSTREAM")

    async def append(self, count: int, *, first: int = 0) -> list[str]:
        """Append entries with one field `n`, counted up from `first`; returns their ids."""
        ids = await self.wire.pipeline([("XADD", self.stream, "*", "n", first + i) for i in range(count)])
        return [bytes(i).decode() for i in ids]

    async def read(self, consumer: str, count: int) -> list[str]:
        """Read new entries as a consumer would that then dies."""
        reply = await self.wire.call("XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", self.stream, ">")
        return [row[0].decode() for row in reply[0][1]] if reply else []

    async def held(self, consumer: str, count: int, *, idle_ms: int = 0, deliveries: int = 1) -> list[str]:
        """Make the group, and entries a consumer has read and not settled, as old as wished."""
        await self.make_group()
        ids = await self.append(count)
        assert await self.read(consumer, count) == ids
        if idle_ms or deliveries != 1:
            await self.set_rows(ids, consumer, idle_ms=idle_ms, deliveries=deliveries)
        return ids

    async def set_rows(self, ids: Sequence[str], owner: str, *, idle_ms: int = 0, deliveries: int = 1) -> None:
        """Make pending rows look as wished; idle times are set, never waited for."""
        shape = ("IDLE", idle_ms, "RETRYCOUNT", deliveries, "FORCE", "JUSTID")
        for answer in await self.wire.pipeline([("XCLAIM", self.stream, "g", owner, 0, i, *shape) for i in ids]):
            assert not isinstance(answer, Exception), answer

    async def rows(self) -> dict[str, tuple[str, int]]:
        """The pending list: entry id -> (owner, delivery count)."""
        found = await self.wire.ask(pending_range(self.stream, b"g", count=1_000_000))
        return {str(row.id): (row.consumer.decode(), row.delivery_count) for row in found}

    async def idle_of(self, entry_id: str) -> int:
        """How long a pending row has been idle, milliseconds."""
        one = entry_id.encode()
        found = await self.wire.ask(pending_range(self.stream, b"g", start=one, end=one, count=1))
        return int(found[0].idle_ms)

    async def dead(self) -> list[list[bytes]]:
        """The fields of every dead letter."""
        return [row[1] for row in await self.wire.call("XRANGE", self.dead_key, "-", "+")]

    async def connections(self, name: str) -> list[str]:
        """The ids of the connections that call themselves by a name."""
        said = (await self.wire.call("CLIENT", "LIST")).decode().splitlines()
        return [line.split(" ")[0].removeprefix("id=") for line in said if f" name={name} " in line]


class Remembers:
    """A handler that remembers its entries, and answers `Error` to those whose `n` is in `bad`.

    `gate`: when given, each call waits for it.
    """

    def __init__(self, bad: Sequence[int] = (), *, gate: asyncio.Event | None = None, retry: bool = True) -> None:
        self.entries: list[Entry] = []
        self.bad = {str(n).encode() for n in bad}
        self.gate = gate
        self.retry = retry

    async def __call__(self, entry: Entry) -> Verdict:
        self.entries.append(entry)
        if self.gate is not None:
            await self.gate.wait()
        return Error("bad one", retry=self.retry) if entry.payload.get(b"n") in self.bad else Ok()

    @property
    def seen(self) -> list[int]:
        """The `n` of every call, in order."""
        return [int(entry.payload[b"n"]) for entry in self.entries]


class Events(list[Event]):
    """A listener that keeps what it hears."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    def of(self, kind: type[Event]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self if isinstance(event, kind)]


@contextlib.asynccontextmanager
async def running(consumer: Consumer) -> AsyncIterator[asyncio.Task[None]]:
    """Run a consumer beside the test, and stop it at the end."""
    task = asyncio.create_task(consumer.run())
    try:
        yield task
        await consumer.stop()
        await task
    finally:
        if not task.done():
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Proxy:
    """A TCP proxy to a server. It can lose the next answer to a command, or drop every connection.

    `lose(word)`: the next request that holds the word is passed on, its answer is not, and the connection ends.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._word: bytes | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.lost = 0

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.drop()
        await self._server.wait_closed()
        await until(lambda: not self._writers)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def lose(self, word: bytes) -> None:
        """Lose the next answer to a request that holds this word."""
        self._word = word

    def drop(self) -> None:
        """Drop every connection."""
        for writer in tuple(self._writers):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, there}
        lose = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._requests(reader, there, lose))
                group.create_task(self._answers(there_reader, writer, lose))
        except* OSError:
            pass
        finally:
            for each in (writer, there):
                each.close()
                self._writers.discard(each)

    async def _requests(self, reader: asyncio.StreamReader, there: asyncio.StreamWriter, lose: asyncio.Event) -> None:
        while data := await reader.read(65536):
            if self._word is not None and self._word in data:
                self._word = None
                lose.set()
            there.write(data)
            await there.drain()
        there.close()

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, lose: asyncio.Event) -> None:
        while data := await reader.read(65536):
            if lose.is_set():
                self.lost += 1
                break
            writer.write(data)
            await writer.drain()
        writer.close()


@pytest.fixture
async def lab(any_server: EmbeddedServer, stream: bytes) -> AsyncIterator[Lab]:
    """A stream of its own on each kind of server in turn."""
    made = Lab(any_server.url, stream)
    yield made
    await made.wire.close()


@pytest.fixture
async def own_lab(own_server: EmbeddedServer, stream: bytes) -> AsyncIterator[Lab]:
    """A stream on a server that may be flushed, frozen or killed."""
    made = Lab(own_server.url, stream)
    yield made
    await made.wire.close()


@pytest.fixture
async def proxy(any_server: EmbeddedServer) -> AsyncIterator[Proxy]:
    """A proxy to the same server as `lab`."""
    async with Proxy(any_server.port) as made:
        yield made
