"""What real servers refuse arrives as one of our errors, with one line that says what to do."""

from __future__ import annotations

import asyncio
import os
import signal
import socket

import pytest
from redis.exceptions import BusyLoadingError

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import (
    CommandError,
    GroupExists,
    NoGroup,
    NoKey,
    Refused,
    ServerError,
    StreamGone,
    UnknownCommand,
    Unreachable,
    WrongType,
    one_line,
    translate,
)
from echomq_console.server.wire import Arg, Wire

from .conftest import Eventually, StartServer


async def refusal(wire: Wire, *command: Arg) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await wire.call(*command)
    text = str(caught.value)
    assert text
    assert text.isprintable(), "one printable line"
    return caught.value


@pytest.fixture
async def group(any_wire: Wire, stream: bytes) -> bytes:
    """A stream with a group `g`."""
    await any_wire.call("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    return stream


async def test_wrong_types(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("SET", stream, "text")
    for command in (
        ("XLEN", stream),
        ("XADD", stream, "*", "a", "b"),
        ("XREADGROUP", "GROUP", "g", "c", "STREAMS", stream, ">"),
        ("EVAL", "return redis.call('XLEN', KEYS[1])", 1, stream),
    ):
        assert type(await refusal(any_wire, *command)) is WrongType


async def test_groups_that_are_not_there_and_that_are(any_wire: Wire, group: bytes) -> None:
    for command in (
        ("XREADGROUP", "GROUP", "other", "c", "STREAMS", group, ">"),
        ("XREADGROUP", "GROUP", "g", "c", "STREAMS", group + b"?", ">"),
        ("XPENDING", group, "other"),
        ("XINFO", "CONSUMERS", group, "other"),
        ("EVAL", "return redis.call('XPENDING', KEYS[1], 'other')", 1, group),
    ):
        assert type(await refusal(any_wire, *command)) is NoGroup
    assert type(await refusal(any_wire, "XGROUP", "CREATE", group, "g", "0")) is GroupExists


@pytest.mark.parametrize(
    "name", ["NOAUTH", "NOPERM", "WRONGTYPE", "BUSYGROUP", "no such key", "unknown command", "OOM"]
)
async def test_a_group_of_any_name_is_just_not_there(any_wire: Wire, group: bytes, name: str) -> None:
    error = await refusal(any_wire, "XREADGROUP", "GROUP", name, "c", "STREAMS", group, ">")
    assert type(error) is NoGroup
    assert name in str(error)


async def test_a_hostile_name_in_an_error_is_harmless(any_wire: Wire, group: bytes) -> None:
    hostile = "\x1b]0;owned\x07\n\u202e\x9b2J"
    error = await refusal(any_wire, "XREADGROUP", "GROUP", hostile, "c", "STREAMS", group, ">")
    assert type(error) is NoGroup
    assert "\x1b" not in str(error)


async def test_keys_and_commands_that_do_not_exist(any_wire: Wire, stream: bytes) -> None:
    assert type(await refusal(any_wire, "XINFO", "STREAM", stream)) is NoKey
    assert type(await refusal(any_wire, "XGROUP", "CREATE", stream, "g", "0")) is NoKey
    assert type(await refusal(any_wire, "NOSUCH", stream)) is UnknownCommand
    assert type(await refusal(any_wire, "XINFO", "NOSUCH")) is UnknownCommand


async def test_other_refusals_keep_the_servers_words(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("XADD", stream, "5-0", "a", "b")
    error = await refusal(any_wire, "XADD", stream, "4-0", "a", "b")
    assert type(error) is CommandError
    assert "equal or smaller" in str(error)


async def test_a_stream_deleted_under_a_parked_reader(
    any_wire: Wire, any_server: EmbeddedServer, group: bytes, eventually: Eventually
) -> None:
    reader = Wire(Address.parse(any_server.url))
    number = await reader.call("CLIENT", "ID")
    parked = asyncio.create_task(refusal(reader, "XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "STREAMS", group, ">"))

    async def is_parked() -> bool:
        return b"cmd=xreadgroup" in await any_wire.call("CLIENT", "LIST", "ID", number)

    await eventually(is_parked)
    await any_wire.call("DEL", group)
    assert type(await parked) in (NoGroup, StreamGone)
    await reader.close()


async def test_a_refused_command_leaves_the_others_of_a_pipeline_alone(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("SET", stream, "text")
    replies = await any_wire.pipeline([("PING",), ("XLEN", stream), ("NOSUCH",), ("GET", stream)])
    assert replies[0] == b"PONG"
    assert type(replies[1]) is WrongType
    assert type(replies[2]) is UnknownCommand
    assert replies[3] == b"text"
    assert await any_wire.call("GET", stream) == b"text"


async def test_an_error_inside_a_transaction_is_ours_too(any_wire: Wire, stream: bytes) -> None:
    await any_wire.call("SET", stream, "text")
    *_, replies = await any_wire.pipeline([("MULTI",), ("GET", stream), ("XLEN", stream), ("EXEC",)])
    assert replies[0] == b"text"
    assert type(replies[1]) is WrongType


async def test_a_server_with_a_password(start_server: StartServer) -> None:
    server = start_server("--requirepass", "hunter2-secret")
    right = f"redis://:hunter2-secret@127.0.0.1:{server.port}"
    wire = Wire(Address.parse(right))
    assert await wire.call("PING") == b"PONG"
    await wire.close()
    for name in (None, "echomq:g:c"):
        without = Wire(Address.parse(server.url), name=name)
        error = await refusal(without, "PING")
        assert type(error) is Refused
        assert str(error) == f"{server.url} wants a password: put it into the URL or into ECHOMQ_PASSWORD"
        await without.close()
    for wrong in (right.replace("hunter2", "hunter3"), right.replace("//:", "//nobody:")):
        error = await refusal(Wire(Address.parse(wrong)), "PING")
        assert type(error) is Refused
        assert "check the user and the password" in str(error)
        assert "secret" not in str(error)


async def test_a_password_that_nobody_asked_for(any_server: EmbeddedServer) -> None:
    error = await refusal(Wire(Address.parse(f"redis://:hunter2-secret@127.0.0.1:{any_server.port}")), "PING")
    assert type(error) is Refused
    assert "secret" not in str(error)


async def test_a_password_from_the_environment(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server = start_server("--requirepass", "hunter2-secret")
    monkeypatch.setenv("ECHOMQ_PASSWORD", "hunter2-secret")
    wire = Wire(Address.parse(server.url))
    assert await wire.call("PING") == b"PONG"
    await wire.close()
    error = await refusal(Wire(Address.parse(f"redis://:of-the-url@127.0.0.1:{server.port}")), "PING")
    assert type(error) is Refused, "the URL's own password goes first"


async def test_a_port_that_nobody_listens_on() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"redis://127.0.0.1:{taken.getsockname()[1]}"
        error = await refusal(Wire(Address.parse(url)), "PING")
    assert type(error) is Unreachable
    assert str(error).startswith(f"{url} cannot be reached: ")


async def test_a_socket_file_that_is_not_there() -> None:
    error = await refusal(Wire(Address.parse("unix:///nowhere/valkey.sock")), "PING")
    assert type(error) is Unreachable
    assert str(error).startswith("unix:///nowhere/valkey.sock cannot be reached: ")


async def test_a_frozen_server_is_noticed_by_the_deadline(start_server: StartServer) -> None:
    server = start_server()
    wire = Wire(Address.parse(server.url))
    assert await wire.call("PING") == b"PONG"
    os.kill(server.pid, signal.SIGSTOP)
    try:
        with pytest.raises(Unreachable, match="did not answer in time"):
            await wire.call("ECHO", "late", deadline=0.2)
        with pytest.raises(Unreachable, match="did not answer in time"):
            await Wire(Address.parse(server.url), name="n", deadline=0.2).open()
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert await wire.call("ECHO", "fresh") == b"fresh", "the late answer is nobody's"
    await wire.close()


async def test_a_replica_takes_no_writes(start_server: StartServer, any_server: EmbeddedServer, stream: bytes) -> None:
    replica = start_server("--replicaof", f"127.0.0.1 {any_server.port}")
    wire = Wire(Address.parse(replica.url))
    error = await refusal(wire, "XADD", stream, "*", "a", "b")
    assert type(error) is CommandError
    assert "connect to its primary" in str(error)
    await wire.close()


async def test_a_full_memory_is_said_plainly(start_server: StartServer, stream: bytes) -> None:
    wire = Wire(Address.parse(start_server("--maxmemory", "1").url))
    for command in (
        ("XADD", stream, "*", "a", "b"),
        ("EVAL", "return redis.call('XADD', KEYS[1], '*', 'a', 'b')", 1, stream),
    ):
        error = await refusal(wire, *command)
        assert type(error) is CommandError
        assert "out of memory" in str(error)
    await wire.close()


def test_a_loading_server_may_be_tried_again() -> None:
    error = translate(BusyLoadingError("Redis is loading the dataset in memory"), address="redis://h:1")
    assert type(error) is Unreachable
    assert str(error) == "redis://h:1 is loading its data: it answers when that is done"


def test_our_own_errors_pass_through_unchanged() -> None:
    error = WrongType("as it is")
    assert translate(error) is error


def test_one_line_is_one_line() -> None:
    assert one_line("a\nb\tc\x1b[2J  d\u2028e") == "a b c [2J d e"
    assert len(one_line("x" * 1000)) == 300
