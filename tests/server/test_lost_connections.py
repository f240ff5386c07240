"""Lost connections: said, survived, and never papered over by sending something twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as LibraryConnectionError

from echomq_console.server.address import Address
from echomq_console.server.commands import pending_summary
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import Unreachable
from echomq_console.server.wire import Wire

from .conftest import Eventually, StartServer


@contextlib.asynccontextmanager
async def reply_eater(port: int, seen: Callable[[bytes], bool]) -> AsyncIterator[int]:
    """A port in front of a server; the first request that `seen` knows is executed, and its reply never arrives."""
    eaten = False
    lines: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal eaten
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
        lines.add(asyncio.current_task())  # type: ignore[arg-type]  # inside a task there is one
        try:
            while request := await reader.read(65536):
                up_writer.write(request)
                reply = await up_reader.read(65536)
                if seen(request) and not eaten:
                    eaten = True
                    return
                writer.write(reply)
        finally:
            up_writer.close()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)


@pytest.fixture
async def twenty(any_wire: Wire, stream: bytes) -> bytes:
    """A stream of 20 entries and a group that has read none."""
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    for number in range(20):
        await any_wire.call("XADD", stream, f"1-{number + 1}", "n", number)
    return stream


@pytest.mark.parametrize("of_a_program", [False, True], ids=["by address", "by a retrying client"])
async def test_a_read_whose_reply_is_lost_is_not_sent_again(
    any_wire: Wire, any_server: EmbeddedServer, twenty: bytes, of_a_program: bool
) -> None:
    async with reply_eater(any_server.port, lambda request: b"XREADGROUP" in request) as port:
        url = f"redis://127.0.0.1:{port}"
        client = Redis.from_url(url, retry=Retry(NoBackoff(), 5), retry_on_error=[LibraryConnectionError])
        wire = Wire(client if of_a_program else Address.parse(url))
        read = ("XREADGROUP", "GROUP", "g", "c", "COUNT", 5, "STREAMS", twenty, ">")
        with pytest.raises(Unreachable):
            await wire.call(*read)
        assert (await any_wire.ask(pending_summary(twenty, b"g"))).rows == 5, "one batch, delivered once"
        reply = await wire.call(*read)
        assert [entry_id for entry_id, _ in reply[0][1]] == [b"1-%d" % n for n in range(6, 11)], "usable again"
        await wire.close()
        await client.aclose()


async def park(wire: Wire, watcher: Wire, stream: bytes, eventually: Eventually) -> tuple[asyncio.Task[object], int]:
    """Park a read behind an append in one pipeline, and wait until the server says so."""
    number: int = await wire.call("CLIENT", "ID")
    read = ("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", stream, ">")
    parked = asyncio.create_task(wire.pipeline([("INCR", stream + b":n"), read, ("INCR", stream + b":n")]))

    async def is_parked() -> bool:
        return b"cmd=xreadgroup" in await watcher.call("CLIENT", "LIST", "ID", number)

    await eventually(is_parked)
    return parked, number


async def test_a_connection_killed_in_mid_pipeline(
    any_wire: Wire, any_server: EmbeddedServer, stream: bytes, eventually: Eventually
) -> None:
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    wire = Wire(Address.parse(any_server.url))
    parked, number = await park(wire, any_wire, stream, eventually)
    assert await any_wire.call("CLIENT", "KILL", "ID", number) == 1
    with pytest.raises(Unreachable):
        await parked
    assert not wire.is_open
    assert await any_wire.call("GET", stream + b":n") == b"1", "what came before the park happened, once"
    assert await wire.call("ECHO", "again") == b"again"
    await wire.close()


async def test_a_killed_parked_read_takes_one_batch_at_most(
    any_wire: Wire, any_server: EmbeddedServer, stream: bytes, eventually: Eventually
) -> None:
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    wire = Wire(Address.parse(any_server.url))
    parked, number = await park(wire, any_wire, stream, eventually)
    # In one step on the server: the park ends with an entry, and its connection with it.
    await any_wire.pipeline([("MULTI",), ("XADD", stream, "*", "a", "b"), ("CLIENT", "KILL", "ID", number), ("EXEC",)])
    with pytest.raises(Unreachable):
        await parked
    for _ in range(3):
        await any_wire.call("XADD", stream, "*", "a", "b")
    assert (await any_wire.ask(pending_summary(stream, b"g"))).rows <= 1
    await wire.close()


async def test_a_server_that_ends_is_unreachable_and_one_that_returns_is_used_again(start_server: StartServer) -> None:
    server = start_server()
    wire = Wire(Address.parse(server.url))
    assert await wire.call("PING") == b"PONG"
    server.kill()
    with pytest.raises(Unreachable):
        await wire.call("PING")
    with pytest.raises(Unreachable, match="cannot be reached"):
        await wire.call("PING")
    with EmbeddedServer(server._binary, port=server.port):
        assert await wire.call("PING") == b"PONG"
        await wire.close()


async def test_an_opening_that_is_cancelled_leaves_no_answer_behind(start_server: StartServer) -> None:
    """The server is frozen: the connection stands, and the answer to the introduction is still on its way."""
    server = start_server()
    wire = Wire(Address.parse(server.url), name="named", deadline=30)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        opening = asyncio.create_task(wire.open())
        while not wire.is_open:  # noqa: ASYNC110  # the wire has no event for it
            await asyncio.sleep(0.001)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert await wire.call("ECHO", "mine") == b"mine"
    await wire.close()


async def test_reading_from_a_wire_that_was_never_opened_is_a_lost_connection(any_server: EmbeddedServer) -> None:
    wire = Wire(Address.parse(any_server.url))
    with pytest.raises(Unreachable, match="was lost"):
        await wire.receive()
    with pytest.raises(Unreachable, match="was lost"):
        await wire.send(b"")
