"""Groups as an incident leaves them, on real servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from echomq_console.model.entry_id import EntryId
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

Seed = Callable[..., Awaitable[tuple[EntryId, ...]]]


async def _seed(
    wire: Wire,
    stream: bytes,
    group: bytes = b"g",
    *,
    consumer: bytes = b"c",
    count: int = 0,
    idle: int | None = None,
    deliveries: int = 1,
) -> tuple[EntryId, ...]:
    """Append `count` entries, let a consumer of a (new) group receive them, set their idle time and delivery count."""
    added = await wire.pipeline([("XADD", stream, "*", "n", n) for n in range(count)])
    made = await wire.pipeline([("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")])
    assert made
    if count:
        await wire.call("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", stream, ">")
    if count and idle is not None:
        options = ("IDLE", idle, "RETRYCOUNT", deliveries, "JUSTID")
        await wire.call("XCLAIM", stream, group, consumer, 0, *added, *options)
    return tuple(map(EntryId.parse, added))


@pytest.fixture
def seed() -> Seed:
    """Make a group with pending entries."""
    return _seed


@pytest.fixture
async def own_wire(own_server: EmbeddedServer) -> AsyncIterator[Wire]:
    """A connection to a Valkey for one test alone."""
    connection = Wire(Address.parse(own_server.url))
    yield connection
    await connection.close()
