"""Bounded looks: what they give, and the one line each says when there is nothing to look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from echomq_console.model.dead_letter import Provenance
from echomq_console.model.entry_id import EntryId
from echomq_console.model.keys import dead_letter_key
from echomq_console.observe.look import (
    NoConsumer,
    Standing,
    dead_letters_page,
    entries_page,
    holders,
    pending_page,
    require_consumer,
)
from echomq_console.server.errors import NoGroup, NoKey, WrongType
from echomq_console.server.wire import Wire

Seed = Callable[..., Awaitable[tuple[EntryId, ...]]]
Look = Callable[[Wire, bytes], Coroutine[Any, Any, object]]

LOOKS: tuple[Look, ...] = (
    lambda wire, key: pending_page(wire, key, b"g"),
    entries_page,
    dead_letters_page,
    lambda wire, key: holders(wire, key, EntryId(1, 0)),
    lambda wire, key: require_consumer(wire, key, b"g", b"c"),
)


async def test_pages_of_the_pending_list(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    ids = await seed(any_wire, stream, count=5, consumer=b"a")
    more = await seed(any_wire, stream, count=2, consumer=b"b", idle=9_000, deliveries=3)
    assert [row.id for row in await pending_page(any_wire, stream, b"g")] == [*ids, *more]
    page = await pending_page(any_wire, stream, b"g", start=ids[3], count=3)
    assert [row.id for row in page] == [ids[3], ids[4], more[0]]
    rows = await pending_page(any_wire, stream, b"g", consumer=b"b")
    assert [(row.id, row.consumer, row.delivery_count) for row in rows] == [(i, b"b", 3) for i in more]
    assert rows[0].idle_ms >= 9_000
    assert await pending_page(any_wire, stream, b"g", consumer=b"nobody") == ()


async def test_looking_counts_no_delivery(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    await seed(any_wire, stream, count=3)
    for look in LOOKS:
        await look(any_wire, stream)
    assert {row.delivery_count for row in await pending_page(any_wire, stream, b"g")} == {1}


async def test_pages_of_entries_lose_nothing(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XADD", stream, "1-0", "a", "1", "a", "2", b"\xff", b"")
    await any_wire.pipeline([("XADD", stream, f"{n}-0", "n", n) for n in range(2, 6)])
    first = await entries_page(any_wire, stream, count=1)
    assert first[0].pairs == ((b"a", b"1"), (b"a", b"2"), (b"\xff", b""))
    assert [e.id.ms for e in await entries_page(any_wire, stream, start=EntryId(2, 0), end=EntryId(4, 0))] == [2, 3, 4]
    back = await entries_page(any_wire, stream, end=EntryId(4, 0), count=2, newest_first=True)
    assert [e.id.ms for e in back] == [4, 3]
    back = await entries_page(any_wire, stream, start=EntryId(2, 0), newest_first=True)
    assert [e.id.ms for e in back] == [5, 4, 3, 2]


async def test_pages_of_dead_letters(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XADD", stream, "*", "a", "b")
    assert await dead_letters_page(any_wire, stream) == ()
    key = dead_letter_key(stream)
    for n in range(1, 6):
        await any_wire.call("XADD", key, f"{n}-0", "no", "dead letter")
        block = Provenance(stream, b"g", EntryId(n, 7), b"c", 5, 10, b"why", b"me", 99).pairs()
        await any_wire.call("XADD", key, f"{n}-1", b"n", b"%d" % n, *(part for pair in block for part in pair))
    letters = await dead_letters_page(any_wire, stream, 3)
    assert [letter.id for letter in letters] == [EntryId(n, 1) for n in (1, 2, 3)]
    assert letters[0].original == ((b"n", b"1"),)
    assert letters[0].provenance.entry_id == EntryId(1, 7)
    rest = await dead_letters_page(any_wire, stream, 3, start=letters[-1].id.successor())
    assert [letter.id.ms for letter in rest] == [4, 5]
    letters = await dead_letters_page(any_wire, stream, 2)
    assert [letter.id for letter in letters] == [EntryId(1, 1), EntryId(2, 1)]
    await any_wire.call("XADD", key, "5-2", b"n", b"6", *(part for pair in block for part in pair))
    letters = await dead_letters_page(any_wire, stream, 2, start=EntryId(4, 1))
    assert [letter.id for letter in letters] == [EntryId(4, 1), EntryId(5, 1)]
    await any_wire.call("XDEL", key, "5-2")
    await any_wire.call("DEL", stream)
    assert len(await dead_letters_page(any_wire, stream)) == 5, "they outlive their stream"
    await any_wire.call("DEL", key)
    await any_wire.call("SET", key, "x")
    with pytest.raises(WrongType, match="holds a string, not a stream"):
        await dead_letters_page(any_wire, stream)


async def test_who_holds_an_entry(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    (entry,) = await seed(any_wire, stream, b"holds", count=1, consumer=b"web-1")
    await seed(any_wire, stream, b"done")
    await any_wire.call("XREADGROUP", "GROUP", "done", "c", "STREAMS", stream, ">")
    await any_wire.call("XACK", stream, "done", bytes(entry))
    await seed(any_wire, stream, b"later")
    found = {holding.group: holding for holding in await holders(any_wire, stream, entry)}
    assert {name: h.standing for name, h in found.items()} == {
        b"holds": Standing.PENDING,
        b"done": Standing.ACKNOWLEDGED,
        b"later": Standing.NOT_DELIVERED,
    }
    row = found[b"holds"].row
    assert row is not None
    assert (row.id, row.consumer, row.delivery_count) == (entry, b"web-1", 1)


async def test_a_consumer_must_exist(any_wire: Wire, stream: bytes, seed: Seed) -> None:
    await seed(any_wire, stream, count=2, consumer=b"web-1")
    assert (await require_consumer(any_wire, stream, b"g", b"web-1")).pending == 2
    with pytest.raises(NoConsumer) as caught:
        await require_consumer(any_wire, stream, b"g", b"web-\x1b")
    assert str(caught.value) == f"group 'g' of '{stream.decode()}' has no consumer 'web-\\x1b' (it has: web-1)"
    assert len(await any_wire.call("XINFO", "CONSUMERS", stream, "g")) == 1, "asking creates none"


@pytest.mark.parametrize("look", LOOKS)
async def test_no_such_stream(any_wire: Wire, stream: bytes, look: Look) -> None:
    with pytest.raises(NoKey) as caught:
        await look(any_wire, stream + b"\x1b[2J")
    assert str(caught.value) == f"no stream '{stream.decode()}\\x1b[2J' on {any_wire.address}"


@pytest.mark.parametrize("look", LOOKS)
async def test_another_type(any_wire: Wire, stream: bytes, look: Look) -> None:
    await any_wire.call("RPUSH", stream, "x")
    with pytest.raises(WrongType) as caught:
        await look(any_wire, stream)
    assert str(caught.value) == f"'{stream.decode()}' holds a list, not a stream"


@pytest.mark.parametrize("look", [LOOKS[0], LOOKS[4]])
async def test_no_such_group(any_wire: Wire, stream: bytes, look: Look) -> None:
    name = stream.decode()
    await any_wire.call("XADD", stream, "*", "a", "b")
    with pytest.raises(NoGroup) as caught:
        await look(any_wire, stream)
    assert str(caught.value) == f"stream '{name}' has no group 'g' (it has none)"
    for group in (b"a\n", b"b"):
        await any_wire.call("XGROUP", "CREATE", stream, group, "0")
    with pytest.raises(NoGroup) as caught:
        await look(any_wire, stream)
    assert str(caught.value) == f"stream '{name}' has no group 'g' (it has: a\\n, b)"


async def test_many_groups_are_not_all_named(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XADD", stream, "*", "a", "b")
    await any_wire.pipeline([("XGROUP", "CREATE", stream, f"group{n:02}", "0") for n in range(20)])
    with pytest.raises(NoGroup, match=r"group07, and 12 more\)$"):
        await pending_page(any_wire, stream, b"g")
