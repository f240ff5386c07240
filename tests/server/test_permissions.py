"""A refusal names the ACL rule that would allow what was refused, and that rule does."""

from __future__ import annotations

import pytest

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import Denied, ServerError
from echomq_console.server.script import Script
from echomq_console.server.wire import Arg, Wire

from .conftest import Dial


async def denied(wire: Wire, *command: Arg) -> Denied:
    with pytest.raises(ServerError) as caught:
        await wire.call(*command)
    assert type(caught.value) is Denied
    assert str(caught.value).isprintable()
    return caught.value


@pytest.mark.parametrize(
    ("command", "name", "rule"),
    [
        (("XADD", "s", "*", "a", "b"), "XADD", "+xadd"),
        (("xadd", "s", "*", "a", "b"), "XADD", "+xadd"),
        (("XINFO", "GROUPS", "s"), "XINFO GROUPS", "+xinfo|groups"),
        (("XGROUP", "CREATE", "s", "g", "0"), "XGROUP CREATE", "+xgroup|create"),
        (("CLIENT", "LIST"), "CLIENT LIST", "+client|list"),
        (("CONFIG", "GET", "maxmemory"), "CONFIG GET", "+config|get"),
        (("PING",), "PING", "+ping"),
        (("EVAL", "return 1", 0), "EVAL", "+eval"),
    ],
)
async def test_a_command_or_its_part(dial_as: Dial, command: tuple[Arg, ...], name: str, rule: str) -> None:
    error = await denied(await dial_as("~*", "+xlen"), *command)
    assert (error.command, error.rule) == (name, rule)
    assert str(error) == f"permission denied for {name}: the ACL rule {rule} would allow it"
    allowed = await dial_as("~*", "+xlen", rule)
    replies = await allowed.pipeline([command])
    assert not isinstance(replies[0], Denied)


@pytest.mark.parametrize("command", [("XLEN", "other"), ("XINFO", "STREAM", "other"), ("XADD", "other", "*", "a", "b")])
async def test_a_key(dial_as: Dial, command: tuple[str, ...]) -> None:
    error = await denied(await dial_as("~mine:*", "+@all"), *command)
    assert (error.command, error.rule) == (f"{command[0]} on this key", "~<key pattern>")


async def test_a_command_and_a_key_inside_a_script(dial_as: Dial, stream: bytes, any_server: EmbeddedServer) -> None:
    acknowledge = Script("acknowledge", "return redis.call('XACK', KEYS[1], 'g', '1-1')")
    wire = await dial_as("~*", "+@all", "-xack")
    with pytest.raises(Denied) as caught:
        await acknowledge.run(wire, [stream], [])
    names_it = any_server._binary.name == "valkey-server"  # Redis 7.0 does not
    assert caught.value.rule == ("+xack" if names_it else "+<that command>"), "what is inside, not EVAL"
    error = await denied(await dial_as("~mine:*", "+@all"), "EVAL", "return redis.call('XLEN', 'other')", 1, "mine:1")
    assert error.rule == "~<key pattern>"


async def test_a_user_who_may_not_tell_its_name_stays_anonymous(dial_as: Dial, stream: bytes) -> None:
    wire = await dial_as("~*", "+@read", "-@dangerous", "-client")
    wire.name = "echomq:g:c"
    assert await wire.call("XLEN", stream) == 0
    assert (await denied(wire, "CLIENT", "SETNAME", "x")).rule == "+client|setname"


async def test_connecting_leaves_no_trace_in_the_acl_log(dial_as: Dial, any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("ACL", "LOG", "RESET")
    wire = await dial_as("~*", "+xlen")
    assert await wire.call("XLEN", stream) == 0
    assert await any_wire.call("ACL", "LOG") == []
