"""Real servers for the tests: each worker starts its own on free loopback ports and ends them."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

_numbers = itertools.count()


def _binary(kind: str) -> Path | None:
    """Find the server of a kind; None is the bundled Valkey. Names what is missing where it is not installed."""
    if kind == "valkey-9.1":
        return None
    found = shutil.which("redis-server") or shutil.which("redis-server", path="/usr/bin:/usr/local/bin")
    if found is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    return Path(found)


SERVERS = ("valkey-9.1", "redis-7.0")


@pytest.fixture(scope="session")
def _running() -> Iterator[Callable[[str], EmbeddedServer]]:
    servers: dict[str, EmbeddedServer] = {}

    def running(kind: str) -> EmbeddedServer:
        if kind not in servers:
            servers[kind] = EmbeddedServer(_binary(kind)).start()
        return servers[kind]

    yield running
    for server in servers.values():
        server.close()


@pytest.fixture
def valkey(_running: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """The embedded Valkey, shared by a worker's tests: use keys of your own, flush nothing."""
    return _running("valkey-9.1")


@pytest.fixture(params=SERVERS)
def any_server(request: pytest.FixtureRequest, _running: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """Each kind of server in turn, shared by a worker's tests: use keys of your own, flush nothing."""
    return _running(request.param)


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A Valkey for one test alone: it may be flushed, frozen or killed."""
    with EmbeddedServer() as server:
        yield server


@pytest.fixture
def stream() -> bytes:
    """A stream's key that no other test uses."""
    return f"test:{os.getpid()}:{next(_numbers)}".encode()


@pytest.fixture
async def wire(valkey: EmbeddedServer) -> AsyncIterator[Wire]:
    """A connection to the shared Valkey."""
    connection = Wire(Address.parse(valkey.url))
    yield connection
    await connection.close()


@pytest.fixture
async def any_wire(any_server: EmbeddedServer) -> AsyncIterator[Wire]:
    """A connection to each kind of server in turn."""
    connection = Wire(Address.parse(any_server.url))
    yield connection
    await connection.close()


@pytest.fixture
async def any_client(any_server: EmbeddedServer) -> AsyncIterator[Redis]:
    """A client of the `redis` package, as a program hands it to the engine, for each kind of server in turn."""
    client = Redis.from_url(any_server.url)
    yield client
    await client.aclose()


@pytest.fixture
async def client(valkey: EmbeddedServer) -> AsyncIterator[Redis]:
    """A client of the `redis` package on the shared Valkey."""
    connected = Redis.from_url(valkey.url)
    yield connected
    await connected.aclose()
