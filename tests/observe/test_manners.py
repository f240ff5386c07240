"""The observer's manners: looking changes nothing, costs little, and bears with refusals and losses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.snapshot import Snapshot
from echomq_console.observe import greeting
from echomq_console.observe.greeting import CONNECTIONS_EVERY
from echomq_console.observe.observer import GROUPS_A_TRIP, STREAMS_A_TRIP, Observer
from echomq_console.observe.permissions import ASK_AGAIN
from echomq_console.observe.scan import PAGE
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import Refused, Unreachable
from echomq_console.server.wire import Arg, Reply, Wire

Seed = Callable[..., Awaitable[tuple[EntryId, ...]]]

LOOKING = {
    *("xinfo|stream", "xinfo|groups", "xinfo|consumers", "xpending", "xrange", "xrevrange"),
    *("scan", "time", "info", "client|list"),
}


class CountingWire(Wire):
    """Keeps what was sent, one list a round trip."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.trips: list[list[tuple[Arg, ...]]] = []

    async def pipeline(self, commands: Sequence[Sequence[Arg]], *, deadline: float | None = None) -> list[Reply]:
        self.trips.append([tuple(command) for command in commands])
        return await super().pipeline(commands, deadline=deadline)


async def _rows(wire: Wire, stream: bytes) -> list[tuple[bytes, bytes, int]]:
    return [(i, c, n) for i, c, _, n in await wire.call("XPENDING", stream, "g", "-", "+", 10_000)]


async def _commands(wire: Wire) -> dict[str, int]:
    lines = (await wire.call("INFO", "commandstats")).decode().splitlines()
    pairs = (line.removeprefix("cmdstat_").partition(":")[::2] for line in lines if line.startswith("cmdstat_"))
    return {name: int(rest.partition("calls=")[2].partition(",")[0]) for name, rest in pairs}


async def test_watching_changes_nothing(own_server: EmbeddedServer, own_wire: Wire, seed: Seed) -> None:
    await seed(own_wire, b"s", count=40, consumer=b"web-1", idle=400_000, deliveries=2)
    ids = await seed(own_wire, b"s", count=PAGE + 7, consumer=b"web-2")
    await seed(own_wire, b"t", count=3)
    await own_wire.call("XDEL", b"s", bytes(ids[3]))
    rows_before = await _rows(own_wire, b"s")
    idle_before = [row[2] for row in await own_wire.call("XPENDING", "s", "g", "-", "+", 10_000)]
    before = await _commands(own_wire)
    watching = Wire(Address.parse(own_server.url), read_only=True)
    observer = Observer(watching, Thresholds())
    for _ in range(600):
        await observer.tick()
    after = await _commands(own_wire)
    await watching.close()
    asked = {name for name, calls in after.items() if calls > before.get(name, 0)}
    assert asked <= LOOKING, asked - LOOKING
    assert {"xinfo|stream", "xpending", "xrange", "scan", "time"} <= asked
    assert await _rows(own_wire, b"s") == rows_before
    idle_after = [row[2] for row in await own_wire.call("XPENDING", "s", "g", "-", "+", 10_000)]
    assert all(later >= earlier for earlier, later in zip(idle_before, idle_after, strict=True))


async def _trips_of_a_tick(server: EmbeddedServer) -> list[list[tuple[Arg, ...]]]:
    wire = CountingWire(Address.parse(server.url))
    observer = Observer(wire, Thresholds())
    await observer.tick()
    wire.trips.clear()
    await observer.tick()
    await wire.close()
    return wire.trips


async def test_the_number_of_round_trips_does_not_depend_on_the_number_of_groups(
    own_server: EmbeddedServer, own_wire: Wire, seed: Seed
) -> None:
    await seed(own_wire, b"s", b"g0", count=5)
    few = await _trips_of_a_tick(own_server)
    assert len(few) == 3
    for n in range(1, GROUPS_A_TRIP):
        await seed(own_wire, b"s", b"g%d" % n, count=1)
    many = await _trips_of_a_tick(own_server)
    assert len(many) == 3
    assert sum(command[0] == "XPENDING" for command in many[2]) == 2 * GROUPS_A_TRIP
    for n in range(1, STREAMS_A_TRIP + 1):
        await own_wire.call("XADD", b"t%d" % n, "*", "a", "b")
    await seed(own_wire, b"t1", b"one more")
    chunked = await _trips_of_a_tick(own_server)
    assert len(chunked) == 5  # the greeting, two chunks of streams, two of groups
    assert max(len(trip) for trip in chunked) <= max(2 * STREAMS_A_TRIP, 3 * GROUPS_A_TRIP)


async def test_no_command_asks_for_more_than_a_page(own_server: EmbeddedServer, own_wire: Wire, seed: Seed) -> None:
    await seed(own_wire, b"s", count=3 * PAGE)
    pages = [c for trip in await _trips_of_a_tick(own_server) for c in trip if c[0] == "XPENDING" and len(c) > 3]
    assert [page[5] for page in pages] == [PAGE]


async def test_connections_are_asked_for_only_every_few_polls(own_server: EmbeddedServer) -> None:
    wire = CountingWire(Address.parse(own_server.url))
    observer = Observer(wire, Thresholds())
    for _ in range(2 * CONNECTIONS_EVERY):
        await observer.tick()
    await wire.close()
    assert sum(command[:2] == ("CLIENT", "LIST") for trip in wire.trips for command in trip) == 2


async def test_a_long_list_of_connections_is_not_asked_for(
    own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greeting, "MOST_CONNECTIONS", 0)
    wire = CountingWire(Address.parse(own_server.url))
    await Observer(wire, Thresholds()).tick()
    await wire.close()
    assert not any(command[:2] == ("CLIENT", "LIST") for trip in wire.trips for command in trip)


async def test_a_poll_asks_for_so_many_suspects_taking_turns(
    own_server: EmbeddedServer, own_wire: Wire, seed: Seed
) -> None:
    ids = await seed(own_wire, b"s", count=40)
    await seed(own_wire, b"s", b"h")
    await own_wire.call("XREADGROUP", "GROUP", "h", "c", "STREAMS", "s", ">")
    await own_wire.call("XDEL", b"s", bytes(ids[-1]))
    wire = CountingWire(Address.parse(own_server.url))
    observer = Observer(wire, Thresholds())
    asked = []
    for _ in range(3):
        await observer.tick()
        asked.append([c for trip in wire.trips for c in trip if c[0] == "XRANGE"])
        wire.trips.clear()
    await wire.close()
    assert [len(commands) for commands in asked] == [50, 30, 0]
    assert [asked[0].count(command) for command in asked[0]] == [2] * 50, "both groups have their turn"


async def test_the_limited_user_sees_what_it_may(own_server: EmbeddedServer, own_wire: Wire, seed: Seed) -> None:
    await own_wire.call("ACL", "SETUSER", "watcher", "on", ">secret", "+@read", "-@dangerous", "~orders*")
    await seed(own_wire, b"orders", count=2)
    await own_wire.pipeline([("XADD", b"clicks%d" % n, "*", "a", "b") for n in range(5)])
    wire = CountingWire(Address.parse(own_server.url.replace("redis://", "redis://watcher:secret@")))
    observer = Observer(wire, Thresholds(), wall_clock=lambda: 1_769_526_697.641)
    snapshot = await observer.tick()
    assert [s.key for s in snapshot.streams] == [b"orders"]
    group = snapshot.streams[0].groups[0]
    assert (group.pending, group.problem) == (2, None)
    assert group.scan is not None
    assert group.scan.complete
    assert group.consumers[0].connections is None
    assert not snapshot.server_clock
    assert abs(snapshot.taken_at_ms - 1_769_526_697_641) < 5_000
    assert snapshot.server.version is None
    for command, rule in (("TIME", "+time"), ("INFO", "+info"), ("CLIENT LIST", "+client|list")):
        (line,) = [p for p in snapshot.problems if p.startswith(f"permission denied for {command}:")]
        assert f"the ACL rule {rule} would allow it" in line
    (line,) = [p for p in snapshot.problems if "XINFO on this key" in p]
    assert "~<key pattern>" in line
    assert "and 2 more" in line
    assert len(snapshot.problems) == 4

    wire.trips.clear()
    second = await observer.tick()
    assert second.problems == snapshot.problems
    asked = [command for trip in wire.trips for command in trip]
    assert {command[0] for command in asked} == {"SCAN", "XINFO", "XPENDING"}, "what was denied is not asked at once"
    assert all(b"orders" in command for command in asked if command[0] == "XINFO")
    await own_wire.call("ACL", "SETUSER", "watcher", "+time", "~*")
    for _ in range(ASK_AGAIN):
        later = await observer.tick()
    assert later.server_clock
    assert len(later.streams) == 6
    await wire.close()


async def test_a_user_that_may_not_search_is_told_so(own_server: EmbeddedServer, own_wire: Wire, seed: Seed) -> None:
    await own_wire.call("ACL", "SETUSER", "watcher", "on", ">secret", "+@all", "-scan", "-xpending", "~*")
    await seed(own_wire, b"orders", count=2)
    address = Address.parse(own_server.url.replace("redis://", "redis://watcher:secret@"))
    wire = Wire(address)
    blind = await Observer(wire, Thresholds()).tick()
    assert blind.streams == ()
    assert not blind.complete
    assert blind.problems == (
        "permission denied for SCAN: the ACL rule +scan would allow it (streams cannot be found, only named)",
    )
    named = await Observer(wire, Thresholds(), streams=[b"orders"]).tick()
    group = named.streams[0].groups[0]
    assert group.problem == "permission denied for XPENDING: the ACL rule +xpending would allow it"
    assert group.scan is None
    assert [c.name for c in group.consumers] == [b"c"]
    assert named.problems == (f"{group.problem} ('orders')",)
    await wire.close()


async def test_a_refused_login_is_raised(own_server: EmbeddedServer, own_wire: Wire) -> None:
    wire = Wire(Address.parse(own_server.url))
    observer = Observer(wire, Thresholds())
    await observer.tick()
    await own_wire.call("CONFIG", "SET", "requirepass", "secret")
    await own_wire.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    with pytest.raises(Unreachable):
        await observer.tick()
    with pytest.raises(Refused):
        await observer.tick()
    await wire.close()


async def test_a_server_that_comes_back_empty_is_not_called_well(valkey: EmbeddedServer, seed: Seed) -> None:
    first = EmbeddedServer().start()
    wire = CountingWire(Address.parse(first.url))
    await seed(wire, b"orders", b"billing", count=2)
    observer = Observer(wire, Thresholds())
    before = await observer.tick()
    assert before.server.product == "valkey"
    first.kill()
    with pytest.raises(Unreachable):
        await observer.tick()
    with EmbeddedServer(port=first.port):
        await wire.call("TYPE", "orders")  # another task of the console was first to connect again
        wire.trips.clear()
        after = await observer.tick()
        assert ("INFO", "server") in wire.trips[0], "it may be another server now"
        assert after.streams == ()
        assert {(v.stream, v.group) for v in after.vanished} == {(b"orders", b"billing"), (b"orders", None)}
        assert after.server == before.server
    await wire.close()
    first.close()


async def test_who_answered(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XADD", stream, "*", "a", "b")
    said = (await any_wire.call("INFO", "server")).decode()
    server = (await Observer(any_wire, Thresholds(), streams=[stream]).tick()).server
    assert server.address == any_wire.address
    assert server.role == "master"
    assert server.product == ("valkey" if "valkey_version" in said else "redis")
    assert server.version is not None
    version = ".".join(map(str, server.version))
    assert f"{server.product}_version:{version}" in said


async def test_ages_are_the_servers_whatever_this_machine_believes(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    await seed(any_wire, stream, count=1, idle=400_000)
    seconds, micros = await any_wire.call("TIME")
    observer = Observer(any_wire, Thresholds(), streams=[stream], clock=lambda: 7.0, wall_clock=lambda: 3_600.0)
    snapshot = await observer.tick()
    assert 0 <= snapshot.taken_at_ms - (int(seconds) * 1000 + int(micros) // 1000) < 60_000
    longest = snapshot.streams[0].groups[0].longest_idle_ms(snapshot.taken_at_ms)
    assert longest is not None
    assert 400_000 <= longest < 460_000


async def _connections(observer: Observer) -> dict[tuple[bytes, bytes], tuple[str, ...] | None]:
    snapshot: Snapshot = await observer.tick()
    return {(g.stream, c.name): c.connections for _, g in snapshot.groups() for c in g.consumers}


async def test_a_connection_is_known_only_where_it_says_so(
    own_server: EmbeddedServer, own_wire: Wire, seed: Seed
) -> None:
    await seed(own_wire, b"s", count=1, consumer=b"web-1")
    await seed(own_wire, b"s", count=1, consumer=b"web-2")
    consumer = Wire(Address.parse(own_server.url), name="echomq:g:web-1")
    await consumer.open()
    found = await _connections(Observer(own_wire, Thresholds()))
    (address,) = found[(b"s", b"web-1")] or ()
    assert address.startswith("127.0.0.1:")
    assert found[(b"s", b"web-2")] is None
    await seed(own_wire, b"t", count=1, consumer=b"web-1")
    assert set((await _connections(Observer(own_wire, Thresholds()))).values()) == {None}, "two could be meant"
    await consumer.close()


async def test_a_poll_that_was_cancelled_leaves_the_next_one_unharmed(
    own_server: EmbeddedServer, own_wire: Wire, seed: Seed
) -> None:
    await seed(own_wire, b"s", count=3)
    wire = Wire(Address.parse(own_server.url))
    observer = Observer(wire, Thresholds())
    for steps in range(12):
        task = asyncio.ensure_future(observer.tick())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    snapshot = await observer.tick()
    assert snapshot.streams[0].groups[0].pending == 3
    await wire.close()
