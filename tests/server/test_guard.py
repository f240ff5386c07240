"""Read-only: nothing but looking leaves the process, and the server's own statistics say so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from echomq_console.server.address import Address
from echomq_console.server.commands import (
    client_list,
    entries_back,
    entries_between,
    group_consumers,
    info,
    key_type,
    pending_range,
    pending_summary,
    scan_streams,
    server_time,
    stream_groups,
    stream_info,
    stream_length,
)
from echomq_console.server.errors import ReadOnly
from echomq_console.server.guard import require_looking
from echomq_console.server.script import Script
from echomq_console.server.wire import Arg, Wire

from .conftest import StartServer

LOOKING = {
    *("ping", "hello", "auth", "select", "info", "time", "scan", "type", "exists"),
    *("xinfo|stream", "xinfo|groups", "xinfo|consumers", "xinfo|help"),
    *("xpending", "xrange", "xrevrange", "xlen", "acl|whoami"),
    *(f"client|{part}" for part in ("id", "setname", "getname", "list", "info", "setinfo")),
}


@pytest.fixture
async def pair(start_server: StartServer) -> AsyncIterator[tuple[Wire, Wire]]:
    """A wire that may do everything and one that only looks, on a server with fresh statistics."""
    address = Address.parse(start_server().url)
    free, looking = Wire(address), Wire(address, read_only=True, name="looking")
    await free.call("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    await free.call("XADD", "s", "1-1", "a", "b")
    await looking.open()
    await free.call("CONFIG", "RESETSTAT")
    yield free, looking
    await free.close()
    await looking.close()


async def called(free: Wire) -> set[str]:
    """What the server has been sent since its statistics were reset, without our own asking."""
    statistics = await free.ask(info("commandstats"))
    return {name.removeprefix("cmdstat_") for name in statistics} - {"config|resetstat", "info", "command|list"}


async def all_commands(free: Wire) -> list[tuple[str, ...]]:
    """Every command and part the server knows."""
    described = await free.call("COMMAND")
    found: list[tuple[str, ...]] = []
    for description in described:
        parts = description[9] if len(description) > 9 else []
        found.append((description[0].decode(),))
        found += [tuple(part[0].decode().split("|")) for part in parts]
    return found


async def test_no_command_of_the_server_gets_through_but_looking(pair: tuple[Wire, Wire]) -> None:
    free, looking = pair
    commands = await all_commands(free)
    assert len(commands) > 300
    assert ("xgroup", "destroy") in commands
    await free.call("CONFIG", "RESETSTAT")
    refused = 0
    for command in commands:
        if "|".join(command) in LOOKING or command == ("xinfo",):
            continue
        for spelt in (command, tuple(word.upper() for word in command), tuple(word.title() for word in command)):
            with pytest.raises(ReadOnly, match="was not sent"):
                await looking.call(*spelt, "s", "1", "x")
            refused += 1
    assert refused > 900
    assert await called(free) == set()
    assert await free.call("XLEN", "s") == 1


@pytest.mark.parametrize(
    "command",
    [
        ("XADD", "s", "*", "a", "b"),
        ("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"),
        ("XGROUP", "CREATECONSUMER", "s", "g", "c"),
        ("EVAL", "return 1", 0),
        ("EVAL_RO", "return 1", 0),
        ("FCALL", "f", 0),
        ("CLIENT", "KILL", "ID", "1"),
        ("CLIENT", "UNBLOCK", "1"),
        ("CLIENT",),
        ("CONFIG", "SET", "maxmemory", "1"),
        ("CONFIG", "GET", "maxmemory"),
        ("MULTI",),
        ("XINFO\r\nXADD", "s"),
        ("\xff",),
        (b"\xff\xfe",),
        ("",),
        ("FLUSHALL",),
        ("SHUTDOWN",),
    ],
)
async def test_a_pipeline_with_one_writer_is_not_sent_at_all(pair: tuple[Wire, Wire], command: tuple[Arg, ...]) -> None:
    free, looking = pair
    with pytest.raises(ReadOnly):
        await looking.pipeline([("XLEN", "s"), command, ("XLEN", "s")])
    with pytest.raises(ReadOnly):
        looking.packed([command])
    assert await called(free) == set()


async def test_a_script_does_not_get_through(pair: tuple[Wire, Wire]) -> None:
    free, looking = pair
    with pytest.raises(ReadOnly):
        await Script("add", "return redis.call('XADD', KEYS[1], '*', 'a', 'b')").run(looking, [b"s"], [])
    assert await called(free) == set()


async def test_everything_we_look_with_gets_through_and_changes_nothing(pair: tuple[Wire, Wire]) -> None:
    free, looking = pair
    await free.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">")
    before = await free.call("XPENDING", "s", "g", "-", "+", 10)
    await free.call("CONFIG", "RESETSTAT")
    said = await looking.ask_all(
        [
            *(scan_streams(0), server_time(), key_type(b"s"), info("server"), stream_length(b"s"), stream_info(b"s")),
            *(stream_groups(b"s"), group_consumers(b"s", b"g"), pending_summary(b"s", b"g"), client_list()),
            pending_range(b"s", b"g", count=10, consumer=b"c", min_idle_ms=1),
            *(entries_between(b"s", count=1), entries_back(b"s", count=1)),
        ]
    )
    assert not [answer for answer in said if isinstance(answer, Exception)]
    assert await looking.call("PING") == b"PONG"
    assert await called(free) <= LOOKING | {"xinfo", "client"}
    after = await free.call("XPENDING", "s", "g", "-", "+", 10)
    assert [row[:2] + row[3:] for row in after] == [row[:2] + row[3:] for row in before]


async def test_a_read_only_wire_stays_so_after_its_connection_was_lost(pair: tuple[Wire, Wire]) -> None:
    free, looking = pair
    await free.call("CLIENT", "KILL", "ID", await looking.call("CLIENT", "ID"))
    await looking.close()
    with pytest.raises(ReadOnly):
        await looking.call("XADD", "s", "*", "a", "b")
    assert await looking.call("XLEN", "s") == 1


def test_the_refusal_says_what_was_not_sent_and_what_to_do() -> None:
    with pytest.raises(ReadOnly) as caught:
        require_looking((b"xadd", b"s"))
    assert str(caught.value) == ("read-only: XADD would write and was not sent (start without --read-only to allow it)")
