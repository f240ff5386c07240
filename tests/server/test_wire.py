"""The wire carries bytes, whole and in order, whoever uses it and whatever client it came from."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from echomq_console.server.address import Address
from echomq_console.server.commands import client_list, entries_between, stream_length
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import ServerError, WrongType
from echomq_console.server.wire import Wire, pack

PAIRS = [b"a", b"1", b"\xff\xfe", b"\x00", b"a", b"2", b"", b"", b"a", b"\r\n$5\r\nx"]


async def test_repeated_names_order_and_every_byte_survive(any_wire: Wire, stream: bytes) -> None:
    entry_id = await any_wire.call("XADD", stream, "7-1", *PAIRS)
    assert await any_wire.call("XRANGE", stream, "-", "+") == [[entry_id, PAIRS]]
    (entry,) = await any_wire.ask(entries_between(stream, count=1))
    assert [part for pair in entry.pairs for part in pair] == PAIRS


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=12))
def test_what_is_packed_is_what_arrives(parts: list[bytes]) -> None:
    expected = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
    assert pack(*parts) == expected


def test_text_and_numbers_are_packed_as_text() -> None:
    assert pack("é", 12, b"\xff", -1) == pack("é".encode(), b"12", b"\xff", b"-1")
    assert pack("\udcff") == pack(b"\xff"), "a byte that came in as a surrogate goes out as that byte"


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": 3},
        {"decode_responses": True},
        {"protocol": 3, "decode_responses": True},
        {"socket_timeout": 0.001, "health_check_interval": 1, "client_name": "theirs"},
        {"retry": Retry(NoBackoff(), 3), "retry_on_timeout": True},
    ],
    ids=["RESP3", "decoding", "RESP3, decoding", "impatient", "retrying"],
)
async def test_a_programs_client_gives_raw_replies(
    any_server: EmbeddedServer, stream: bytes, options: dict[str, Any]
) -> None:
    client = Redis.from_url(any_server.url, **options)
    wire = Wire(client)
    await wire.call("XADD", stream, "7-1", *PAIRS)
    await wire.call("XGROUP", "CREATE", stream, "g", "0")
    reply = await wire.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", stream, ">")
    assert reply == [[stream, [[b"7-1", PAIRS]]]], "a list, not a map: RESP2"
    assert (await wire.call("XINFO", "GROUPS", stream))[0][:2] == [b"name", b"g"]
    assert await wire.call("XREADGROUP", "GROUP", "g", "c", "BLOCK", 20, "STREAMS", stream, ">") is None
    assert await wire.call("CLIENT", "GETNAME") in (None, b""), "it introduces itself by its own name only"
    assert wire.address == any_server.url.replace("localhost", "127.0.0.1")
    await wire.close()
    await client.aclose()


async def test_a_url_cannot_change_that_either(any_server: EmbeddedServer, stream: bytes) -> None:
    wire = Wire(Address.parse(f"{any_server.url}?decode_responses=true&protocol=3&socket_timeout=0.001"))
    await wire.call("XADD", stream, "7-1", *PAIRS)
    assert await wire.call("XRANGE", stream, "-", "+") == [[b"7-1", PAIRS]]
    await wire.close()


async def test_tasks_share_a_wire_without_mixing_replies(any_wire: Wire) -> None:
    texts = [b"%d" % number for number in range(200)]
    assert await asyncio.gather(*(any_wire.call("ECHO", text) for text in texts)) == texts


async def test_a_cancelled_call_leaves_no_reply_for_the_next(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    parked = asyncio.create_task(
        any_wire.call("XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", stream, ">", deadline=30)
    )
    waiting = asyncio.create_task(any_wire.call("ECHO", "after"))
    while not any_wire.is_open:  # noqa: ASYNC110  # the wire has no event for it
        await asyncio.sleep(0)
    parked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parked
    assert await waiting == b"after"
    assert await any_wire.call("ECHO", "again") == b"again"


async def test_a_wire_opens_itself_and_opens_again_after_a_close(any_server: EmbeddedServer) -> None:
    wire = Wire(Address.parse(any_server.url))
    states = [wire.is_open]
    first = await wire.call("CLIENT", "ID")
    states.append(wire.is_open)
    assert await wire.call("CLIENT", "ID") == first
    await wire.close()
    await wire.close()
    assert [*states, wire.is_open] == [False, True, False]
    assert await wire.call("CLIENT", "ID") != first
    await wire.close()


async def test_a_wire_tells_its_name(any_server: EmbeddedServer, any_wire: Wire) -> None:
    wire = Wire(Address.parse(any_server.url), name="echomq:g g:ä\n")
    await wire.open()
    assert "echomq:g_g:__" in {client["name"] for client in await any_wire.ask(client_list())}
    await wire.close()


async def test_typed_commands_in_one_round_trip_keep_their_places(any_wire: Wire, stream: bytes) -> None:
    text = stream + b":text"
    await any_wire.call("XADD", stream, "1-1", "a", "b")
    await any_wire.call("SET", text, "x")
    said = await any_wire.ask_all([stream_length(stream), stream_length(text), stream_length(stream + b":none")])
    assert said[0] == 1
    assert type(said[1]) is WrongType
    assert said[2] == 0
    with pytest.raises(ServerError):
        await any_wire.ask(stream_length(text))
    assert await any_wire.ask_all([]) == []


async def test_a_database_of_the_url_is_the_one_that_is_used(any_server: EmbeddedServer, stream: bytes) -> None:
    other = Wire(Address.parse(f"{any_server.url}/3"))
    await other.call("XADD", stream, "1-1", "a", "b")
    assert "db=3" in (await other.call("CLIENT", "INFO")).decode()
    await other.call("DEL", stream)
    await other.close()
