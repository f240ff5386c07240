"""A cluster of three primaries: the engine finds the node of its stream, and the dead letters are in the same slot."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import RedisCluster
from tests.engine.conftest import Remembers, running, until, until_async

from echomq_console.engine import Consumer, DeadLetter, Start, dead_letter, drain
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

SLOTS = ((0, 5460), (5461, 10922), (10923, 16383))


@pytest.fixture
async def cluster() -> AsyncIterator[RedisCluster]:
    with contextlib.ExitStack() as stack:
        options = ("--cluster-enabled", "yes", "--cluster-port", "0")
        servers = [stack.enter_context(EmbeddedServer(options=options)) for _ in SLOTS]
        wires = [Wire(Address.parse(server.url)) for server in servers]
        for wire, (first, last) in zip(wires, SLOTS, strict=True):
            await wire.call("CLUSTER", "ADDSLOTSRANGE", first, last)
        for wire in wires:
            for server in servers:
                await wire.call("CLUSTER", "MEET", "127.0.0.1", server.port)

        async def whole() -> bool:
            said = [await wire.call("CLUSTER", "INFO") for wire in wires]
            return all(b"cluster_state:ok" in each and b"cluster_slots_ok:16384" in each for each in said)

        await until_async(whole)
        client = RedisCluster(host="127.0.0.1", port=servers[0].port)
        yield client
        await client.aclose()
        for wire in wires:
            await wire.close()


async def test_any_stream_and_its_dead_letters(cluster: RedisCluster) -> None:
    """Whatever node holds a stream, with a hash tag or without."""
    for stream in ("orders", "emq:{billing}:stream:events", "c", "users", "x1"):
        for n in range(3):
            await cluster.xadd(stream, {"n": str(n)})
        handler = Remembers([1], retry=False)
        names = {"stream": stream, "group": "g", "name": "c1"}
        made = Consumer(cluster, **names, start=Start.HEAD, handler=handler, dead_letter=DeadLetter(3))  # type: ignore[arg-type]
        async with running(made):
            await until(lambda made=made: made.totals.acknowledged == 2)  # type: ignore[misc]
        dead = stream + ":dead" if "{" in stream else "{" + stream + "}:dead"
        assert await cluster.xlen(dead) == 1


async def test_the_three_by_hand(cluster: RedisCluster) -> None:
    await cluster.xgroup_create("orders", "g", id="0", mkstream=True)
    added = [await cluster.xadd("orders", {"n": str(n)}) for n in range(2)]
    ids = [each.decode() if isinstance(each, bytes) else each for each in added]
    await cluster.xreadgroup("g", "c1", {"orders": ">"})
    moved = await dead_letter(cluster, stream="orders", group="g", ids=ids[:1], reason="r", by="me")
    assert moved.dead_lettered == 1
    report = await drain(cluster, stream="orders", group="g", name="c1", handler=Remembers())
    assert report.ids["acknowledged"] == ids[1:]
