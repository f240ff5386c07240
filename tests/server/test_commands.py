"""Typed commands read what each kind of server says, by name."""

from __future__ import annotations

import time

import pytest

from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import GroupState, PendingEntry
from echomq_console.server.commands import (
    PendingSummary,
    client_list,
    entries_back,
    entries_between,
    group_consumers,
    info,
    key_type,
    named,
    pending_range,
    pending_summary,
    scan_streams,
    server_time,
    stream_groups,
    stream_info,
    stream_length,
)
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire


@pytest.fixture
async def group(any_wire: Wire, stream: bytes) -> bytes:
    """Ten entries; of group `g`, consumer `a` has read three and `b` two, and all of `b`'s are settled."""
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    for number in range(1, 11):
        await any_wire.call("XADD", stream, f"{number}-1", "n", number)
    await any_wire.call("XREADGROUP", "GROUP", "g", "a", "COUNT", 3, "STREAMS", stream, ">")
    await any_wire.call("XREADGROUP", "GROUP", "g", "b", "COUNT", 2, "STREAMS", stream, ">")
    await any_wire.call("XACK", stream, "g", "4-1", "5-1")
    return stream


async def test_streams_are_found_and_nothing_else(any_wire: Wire, stream: bytes) -> None:
    keys = {stream + b":%d" % number for number in range(30)}
    for key in keys:
        await any_wire.call("XADD", key, "*", "a", "b")
        await any_wire.call("SET", key + b":text", "x")
    found: set[bytes] = set()
    cursor, steps = 0, 0
    while steps == 0 or cursor:
        cursor, page = await any_wire.ask(scan_streams(cursor, count=5, match=stream + b":*"))
        found |= set(page)
        steps += 1
    assert found == keys
    assert steps > 1
    assert keys <= set((await any_wire.ask(scan_streams(0, count=100_000))).keys)


async def test_a_stream(any_wire: Wire, group: bytes) -> None:
    state = await any_wire.ask(stream_info(group))
    assert (state.key, state.length, state.entries_added) == (group, 10, 10)
    assert (state.first_id, state.last_generated_id) == (EntryId(1, 1), EntryId(10, 1))
    assert state.max_deleted_id == EntryId(0, 0)
    await any_wire.call("XDEL", group, *(f"{number}-1" for number in range(1, 11)))
    state = await any_wire.ask(stream_info(group))
    assert (state.length, state.entries_added, state.first_id) == (0, 10, None)
    assert state.max_deleted_id == EntryId(10, 1)
    assert await any_wire.ask(stream_length(group)) == 0
    assert await any_wire.ask(stream_length(group + b"?")) == 0


async def test_groups(any_wire: Wire, group: bytes) -> None:
    await any_wire.call("XGROUP", "CREATE", group, b"\xff at the end", "$")
    await any_wire.call("XADD", group, "11-1", "n", 11)
    first, second = await any_wire.ask(stream_groups(group))
    assert first == GroupState(group, b"g", 3, EntryId(5, 1), 5, 6)
    assert second == GroupState(group, b"\xff at the end", 0, EntryId(10, 1), None, None), "unknown, not zero"


async def test_consumers(any_wire: Wire, any_server: EmbeddedServer, group: bytes) -> None:
    await any_wire.call("XGROUP", "CREATECONSUMER", group, "g", "never")
    by_name = {consumer.name: consumer for consumer in await any_wire.ask(group_consumers(group, b"g"))}
    assert {name: consumer.pending for name, consumer in by_name.items()} == {b"a": 3, b"b": 0, b"never": 0}
    knows_tries = any_server._binary.name == "valkey-server"
    assert all(consumer.idle_is_last_try is knows_tries for consumer in by_name.values())
    assert by_name[b"never"].inactive_ms is None
    assert (by_name[b"a"].inactive_ms is not None) is knows_tries
    assert by_name[b"a"].connections is None


async def test_a_pending_list(any_wire: Wire, group: bytes) -> None:
    summary = await any_wire.ask(pending_summary(group, b"g"))
    assert summary == PendingSummary(3, EntryId(1, 1), EntryId(3, 1), {b"a": 3})
    await any_wire.call("XCLAIM", group, "g", "b", 0, "2-1", "IDLE", 60_000, "RETRYCOUNT", 9, "JUSTID")
    rows: tuple[PendingEntry, ...] = await any_wire.ask(pending_range(group, b"g", count=10))
    assert [(row.id, row.consumer, row.delivery_count) for row in rows] == [
        (EntryId(1, 1), b"a", 1),
        (EntryId(2, 1), b"b", 9),
        (EntryId(3, 1), b"a", 1),
    ]
    assert rows[1].idle_ms >= 60_000

    async def found(**options: object) -> list[int]:
        said = await any_wire.ask(pending_range(group, b"g", **{"count": 10, **options}))  # type: ignore[arg-type]
        return [row.id.ms for row in said]

    assert await found(count=2) == [1, 2]
    assert await found(start=EntryId(2, 1)) == [2, 3]
    assert await found(start=b"(2-1") == [3]
    assert await found(end=EntryId(1, 9)) == [1]
    assert await found(consumer=b"a") == [1, 3]
    assert await found(min_idle_ms=50_000) == [2]
    assert await found(min_idle_ms=50_000, consumer=b"a") == []


async def test_an_empty_pending_list(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    assert await any_wire.ask(pending_summary(stream, b"g")) == PendingSummary(0, None, None, {})
    assert await any_wire.ask(pending_range(stream, b"g", count=10)) == ()
    assert await any_wire.ask(group_consumers(stream, b"g")) == ()


async def test_entries_forth_and_back(any_wire: Wire, group: bytes) -> None:
    forth: tuple[StreamEntry, ...] = await any_wire.ask(entries_between(group, start=EntryId(3, 0), count=3))
    assert forth == tuple(StreamEntry(EntryId(n, 1), ((b"n", b"%d" % n),)) for n in (3, 4, 5))
    back: tuple[StreamEntry, ...] = await any_wire.ask(entries_back(group, end=EntryId(9, 0), count=3))
    assert [entry.id.ms for entry in back] == [10, 9]
    assert await any_wire.ask(entries_between(group, end=b"(1-1", count=3)) == ()
    assert await any_wire.ask(entries_back(group + b"?", count=3)) == ()


async def test_what_the_server_is(any_wire: Wire, any_server: EmbeddedServer, stream: bytes) -> None:
    said = await any_wire.ask(info("server"))
    assert int(said["tcp_port"]) == any_server.port
    assert int(said["process_id"]) == any_server.pid
    assert not [name for name in said if name.startswith("#")]
    assert abs(await any_wire.ask(server_time()) - time.time() * 1000) < 60_000
    assert await any_wire.ask(key_type(stream)) == "none"
    await any_wire.call("XADD", stream, "*", "a", "b")
    assert await any_wire.ask(key_type(stream)) == "stream"


async def test_connections(any_wire: Wire) -> None:
    number = await any_wire.call("CLIENT", "ID")
    await any_wire.call("CLIENT", "SETNAME", "echomq:g=1:c")
    (ours,) = [client for client in await any_wire.ask(client_list()) if client["id"] == str(number)]
    assert ours["name"] == "echomq:g=1:c"
    assert ours["addr"].startswith("127.0.0.1:")


def test_a_reply_is_read_by_name_whatever_else_it_says() -> None:
    assert named([b"b", 2, b"new-in-ten", [b"x"], b"a", None]) == {b"a": None, b"b": 2, b"new-in-ten": [b"x"]}
    reply = [b"future", [], b"length", 1, b"last-generated-id", b"1-1", b"first-entry", None]
    state = stream_info(b"s").parse(reply)
    assert (state.entries_added, state.max_deleted_id) == (None, None), "a server before 7.0 does not say"
