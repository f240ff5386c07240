"""Retention bounds a stream and never takes what somebody holds."""

from __future__ import annotations

import pytest

from echomq_console.demo.retention import Retention
from echomq_console.demo.writer import Writer
from echomq_console.model.branded import EPOCH_MS
from echomq_console.model.entry_id import EntryId
from echomq_console.server.commands import entries_between
from echomq_console.server.wire import Wire

START = EPOCH_MS + 1_000_000


async def ids(wire: Wire, stream: bytes) -> list[EntryId]:
    return [entry.id for entry in await wire.ask(entries_between(stream, count=10_000))]


async def append(wire: Wire, writer: Writer, first_ms: int, count: int) -> list[EntryId]:
    replies = [await wire.call(*writer.append(b"{}", first_ms + 10 * place)) for place in range(count)]
    return [EntryId.parse(reply) for reply in replies]


async def read(wire: Wire, stream: bytes, group: bytes, count: int) -> list[bytes]:
    reply = await wire.call("XREADGROUP", "GROUP", group, "c", "COUNT", count, "STREAMS", stream, ">")
    return [entry_id for entry_id, _ in reply[0][1]]


async def test_settled_entries_go_and_held_and_seeded_and_young_ones_stay(any_wire: Wire, stream: bytes) -> None:
    for group in (b"one", b"two"):
        await any_wire.call("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")
    writer = Writer(stream)
    retention = Retention(stream, keep_ms=1000)
    seeded = await append(any_wire, writer, START, 5)
    await retention.step(any_wire, START + 50)
    old = await append(any_wire, writer, START + 100, 20)
    young = await append(any_wire, writer, START + 5000, 5)
    for group, held in ((b"one", old[3]), (b"two", old[11])):
        delivered = await read(any_wire, stream, group, 30)
        await any_wire.call("XACK", stream, group, *(i for i in delivered if i != bytes(held)))
    await retention.step(any_wire, START + 5000 + 1000)
    assert await ids(any_wire, stream) == [*seeded, old[3], old[11], *young]

    await any_wire.call("XACK", stream, "one", bytes(old[3]))
    await retention.step(any_wire, START + 5000 + 1000)
    assert old[3] in await ids(any_wire, stream), "what was recovered stays, so that it can be undone"


async def test_a_stream_with_an_old_held_entry_stays_bounded(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    writer = Writer(stream)
    retention = Retention(stream, keep_ms=1000)
    (held,) = await append(any_wire, writer, START, 1)
    await read(any_wire, stream, b"g", 1)
    await retention.step(any_wire, START)
    longest = 0
    for turn in range(1, 30):
        now_ms = START + 500 * turn
        await append(any_wire, writer, now_ms, 50)
        await any_wire.call("XACK", stream, "g", *await read(any_wire, stream, b"g", 50))
        await retention.step(any_wire, now_ms, count=100)
        longest = max(longest, len(await ids(any_wire, stream)))
    assert longest <= 1 + 3 * 50
    assert (await ids(any_wire, stream))[0] == held


def test_a_writers_ids_rise_though_the_clock_stands_still_or_steps_back() -> None:
    writer = Writer(b"s")
    minted = [writer.mint(START) for _ in range(5000)]
    minted += [writer.mint(START - 500), writer.mint(START + 9)]
    assert minted == sorted(set(minted))
    assert [m.entry_id for m in minted] == sorted(m.entry_id for m in minted)
    assert minted[0].minted_ms == START
    assert minted[-1].minted_ms == START + 9
    assert minted[4096].minted_ms == START + 1, "a millisecond holds 4,096 of them"


@pytest.mark.parametrize("node", [0, 1, 1023])
def test_a_writer_signs_with_its_node(node: int) -> None:
    assert Writer(b"s", node=node).mint(START).node == node
