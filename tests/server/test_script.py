"""Scripts: sent whole only where the server does not know them, and never run twice for one call."""

from __future__ import annotations

import hashlib

import pytest

from echomq_console.server.commands import info
from echomq_console.server.errors import CommandError, WrongType
from echomq_console.server.script import Script
from echomq_console.server.wire import Wire


def counting(stream: bytes) -> Script:
    """A script of a text of its own, so that no server has seen it."""
    return Script("count", f"-- {stream.decode()}\nredis.call('INCR', KEYS[1]) return {{ARGV[1], #KEYS, #ARGV}}")


async def calls(wire: Wire) -> dict[str, int]:
    statistics = await wire.ask(info("commandstats"))
    return {
        name: int(statistics.get(f"cmdstat_{name}", "calls=0").split(",")[0].removeprefix("calls="))
        for name in ("eval", "evalsha")
    }


async def test_a_script_is_sent_once_and_known_after_that(any_wire: Wire, stream: bytes) -> None:
    script = counting(stream)
    assert await any_wire.call("SCRIPT", "EXISTS", script.sha) == [0]
    before = await calls(any_wire)
    for turn in (1, 2, 3):
        assert await script.run(any_wire, [stream], [b"\xff\x00", "x", 5]) == [b"\xff\x00", 1, 3]
        assert await any_wire.call("GET", stream) == b"%d" % turn, "run once for each call"
    after = await calls(any_wire)
    assert {name: after[name] - before[name] for name in after} == {"eval": 1, "evalsha": 3}


async def test_a_server_that_forgot_it_gets_it_again(any_wire: Wire, stream: bytes) -> None:
    script = counting(stream)
    await script.run(any_wire, [stream], ["x"])
    await any_wire.call("SCRIPT", "FLUSH")
    assert await script.run(any_wire, [stream], ["x"]) == [b"x", 1, 1]
    assert await any_wire.call("GET", stream) == b"2"


async def test_an_error_of_the_script_itself_is_not_tried_again(any_wire: Wire, stream: bytes) -> None:
    source = f"-- {stream.decode()}\nredis.call('INCR', KEYS[1]) return redis.error_reply('ERR no')"
    script = Script("fail", source)
    for turn in (1, 2):
        with pytest.raises(CommandError, match="no"):
            await script.run(any_wire, [stream], [])
        assert await any_wire.call("GET", stream) == b"%d" % turn
    await any_wire.call("SET", stream, "text")
    wrong = Script("wrong type", "return redis.call('XLEN', KEYS[1])")
    for _ in range(2):
        with pytest.raises(WrongType):
            await wrong.run(any_wire, [stream], [])


def test_the_digest_is_the_servers() -> None:
    script = Script("ä", "return 'ä'")
    assert script.sha == hashlib.sha1("return 'ä'".encode(), usedforsecurity=False).hexdigest()
