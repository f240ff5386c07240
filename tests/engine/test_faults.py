"""Faults: lost answers, killed clients, frozen and restarted servers, lost groups, missing permissions."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import pytest
from tests.engine.conftest import Events, Lab, Proxy, Remembers, running, until, until_async

from echomq_console.engine import Consumer, DeadLetter, Entry, GroupLost, Ok, Start, Verdict
from echomq_console.engine import reader as reader_module
from echomq_console.engine.events import Claimed, Disconnected, GroupMade, Reconnected
from echomq_console.engine.scripts import TAKE
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import Denied, Refused, WrongType


def consumer(lab: Lab, handler: Any, name: str = "c1", *, url: str = "", **more: Any) -> Consumer:
    options: dict[str, Any] = {"start": Start.HEAD, "min_idle": 60.0, "beat": 0.05} | more
    address = Address.parse(url) if url else lab.address
    return Consumer(address, **lab.of(name), handler=handler, **options)


async def empty(lab: Lab) -> bool:
    return await lab.rows() == {}


async def parked(lab: Lab, name: str = "c1") -> bool:
    said = (await lab.wire.call("CLIENT", "LIST")).decode()
    return any(f" name=echomq:g:{name} " in line and " cmd=xreadgroup" in line for line in said.splitlines())


async def test_a_lost_read_reply_is_recovered_at_once_and_not_counted(
    lab: Lab, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    handler, events = Remembers(), Events()
    async with running(consumer(lab, handler, url=proxy.url, listener=events)):
        await until_async(lambda: parked(lab))
        await lab.append(1)
        await until(lambda: handler.entries)
        proxy.lose(b"XREADGROUP")
        await lab.append(5, first=1)
        await until(lambda: proxy.lost)
        await until(lambda: len(handler.entries) == 6)
        await until_async(lambda: empty(lab))
    assert proxy.lost == 1
    assert sorted(handler.seen) == list(range(6))
    assert {entry.attempts for entry in handler.entries} == {1}


async def test_a_flapping_link_uses_up_nobodys_attempts(lab: Lab, proxy: Proxy) -> None:
    """Every answer that brings entries is lost, eight times over; the limit is 3."""
    handler, events = Remembers(), Events()
    made = consumer(lab, handler, url=proxy.url, dead_letter=DeadLetter(3), listener=events)
    async with running(made):
        await until_async(lambda: parked(lab))
        for n in range(8):
            lost = proxy.lost
            proxy.lose(b"EVALSHA" if n % 2 else b"XREADGROUP")
            await lab.append(3, first=3 * n)
            await until(lambda lost=lost: proxy.lost > lost)  # type: ignore[misc]
        await until_async(lambda: empty(lab))
    assert sorted(handler.seen) == list(range(24))
    assert {entry.attempts for entry in handler.entries} == {1}
    assert await lab.dead() == []


async def test_a_lost_take_is_not_counted_twice(lab: Lab, proxy: Proxy) -> None:
    """The server has counted the delivery, its answer died on the way, the handler never began."""
    await lab.held("c1", 3, deliveries=2)
    await lab.wire.call("SCRIPT", "LOAD", TAKE.source)
    handler = Remembers()
    proxy.lose(TAKE.sha.encode())
    async with running(consumer(lab, handler, url=proxy.url, dead_letter=DeadLetter(3))):
        await until_async(lambda: empty(lab))
    assert proxy.lost == 1
    assert handler.seen == [0, 1, 2]
    assert [entry.attempts for entry in handler.entries] == [3, 3, 3]


async def test_a_lost_take_of_the_beat_is_recovered(lab: Lab, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    await lab.held("dead", 3, deliveries=2, idle_ms=90_000)
    await lab.wire.call("SCRIPT", "LOAD", TAKE.source)
    handler = Remembers()
    proxy.lose(TAKE.sha.encode())
    async with running(consumer(lab, handler, url=proxy.url, dead_letter=DeadLetter(3))):
        await until_async(lambda: empty(lab))
    assert sorted(handler.seen) == [0, 1, 2]
    assert max(entry.attempts for entry in handler.entries) == 3
    assert await lab.dead() == []


async def test_killed_clients_come_back(lab: Lab) -> None:
    handler, events = Remembers(), Events()
    async with running(consumer(lab, handler, listener=events)):
        for n in range(3):
            await until_async(lambda: parked(lab))
            for client_id in await lab.connections("echomq:g:c1"):
                await lab.wire.call("CLIENT", "KILL", "ID", client_id)
            await lab.append(10, first=10 * n)
            await until(lambda n=n: len(handler.entries) == 10 * (n + 1))  # type: ignore[misc]
        await until_async(lambda: empty(lab))
    assert sorted(handler.seen) == list(range(30))
    assert len(events.of(Disconnected)) >= 3
    assert events.of(Reconnected)


async def test_what_failed_here_waits_for_its_beat_across_a_reconnect(lab: Lab) -> None:
    await lab.append(1)
    handler, events = Remembers([0]), Events()
    async with running(consumer(lab, handler, listener=events)):
        await until(lambda: handler.entries)
        await until_async(lambda: parked(lab))
        for client_id in await lab.connections("echomq:g:c1"):
            await lab.wire.call("CLIENT", "KILL", "ID", client_id)
        await until(lambda: events.of(Reconnected) or events.of(Disconnected))
        await lab.append(1, first=1)
        await until(lambda: len(handler.entries) == 2)
    assert handler.seen == [0, 1]
    assert events.of(Claimed) == []


async def test_what_runs_is_not_dispatched_again_after_a_reconnect(lab: Lab) -> None:
    await lab.append(1)
    gate, events = asyncio.Event(), Events()
    handler = Remembers(gate=gate)
    async with running(consumer(lab, handler, concurrency=2, listener=events)):
        await until(lambda: handler.entries)
        await until_async(lambda: parked(lab))
        for client_id in await lab.connections("echomq:g:c1"):
            await lab.wire.call("CLIENT", "KILL", "ID", client_id)
        await lab.append(1, first=1)
        await until(lambda: len(handler.entries) == 2)
        gate.set()
        await until_async(lambda: empty(lab))
    assert handler.seen == [0, 1]


async def test_a_frozen_server_is_noticed(own_lab: Lab, own_server: EmbeddedServer, monkeypatch: Any) -> None:
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    monkeypatch.setattr(reader_module, "GRACE", 0.3)
    handler, events = Remembers(), Events()
    async with running(consumer(own_lab, handler, listener=events)):
        await own_lab.append(1)
        await until(lambda: handler.entries)
        os.kill(own_server.pid, signal.SIGSTOP)
        try:
            await until(lambda: events.of(Disconnected))
        finally:
            os.kill(own_server.pid, signal.SIGCONT)
        await own_lab.append(1, first=1)
        await until(lambda: len(handler.entries) == 2)
        await until_async(lambda: empty(own_lab))
    assert "frozen" in events.of(Disconnected)[0].problem
    assert handler.seen == [0, 1]


async def test_stop_is_not_held_up_by_a_frozen_server(own_lab: Lab, own_server: EmbeddedServer) -> None:
    handler = Remembers()
    made = consumer(own_lab, handler)
    task = asyncio.create_task(made.run())
    await own_lab.append(1)
    await until(lambda: handler.entries)
    os.kill(own_server.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        await made.stop()
        await task
        assert time.monotonic() - began < 6
    finally:
        os.kill(own_server.pid, signal.SIGCONT)


async def test_stop_is_not_held_up_by_a_server_that_is_gone(own_lab: Lab, own_server: EmbeddedServer) -> None:
    handler, events = Remembers(), Events()
    made = consumer(own_lab, handler, listener=events)
    task = asyncio.create_task(made.run())
    await own_lab.append(1)
    await until(lambda: handler.entries)
    own_server.kill()
    await until(lambda: events.of(Disconnected))
    began = time.monotonic()
    await made.stop()
    await task
    assert time.monotonic() - began < 4


async def test_a_quiet_stream_is_no_error(lab: Lab, monkeypatch: Any) -> None:
    monkeypatch.setattr(reader_module, "PARK", 0.05)
    handler, events = Remembers(), Events()
    async with running(consumer(lab, handler, min_idle=None, listener=events)):
        await until_async(lambda: parked(lab))
        before = await lab.connections("echomq:g:c1")
        await asyncio.sleep(0.5)  # ten parks long: the quiet itself is what is tested
        assert await lab.connections("echomq:g:c1") == before
    assert events.of(Disconnected) == []


async def test_a_restarted_server(own_server: EmbeddedServer, stream: bytes, tmp_path: Any) -> None:
    port = own_server.port
    own_server.close()
    options = ("--appendonly", "yes", "--appendfsync", "always")
    server = EmbeddedServer(port=port, keep=tmp_path, options=options).start()
    lab = Lab(server.url, stream)
    handler, events = Remembers(), Events()
    try:
        async with running(consumer(lab, handler, listener=events)):
            await lab.append(20)
            await until(lambda: len(handler.entries) == 20)
            server.kill()
            await until(lambda: events.of(Disconnected))
            server = EmbeddedServer(port=port, keep=tmp_path, options=options).start()
            await until_async(lambda: _appended(lab, 20))
            await until(lambda: {*range(40)} <= {*handler.seen})
            await until_async(lambda: empty(lab))
    finally:
        await lab.wire.close()
        server.close()


async def _appended(lab: Lab, first: int) -> bool:
    from echomq_console.server.errors import Unreachable

    try:
        await lab.append(20, first=first)
    except Unreachable:
        return False
    return True


async def test_a_group_lost_in_mid_run_is_loud(lab: Lab) -> None:
    handler = Remembers()
    made = consumer(lab, handler)
    task = asyncio.create_task(made.run())
    await lab.append(1)
    await until(lambda: handler.entries)
    await lab.wire.call("DEL", lab.stream)
    with pytest.raises(GroupLost, match="the stream was deleted"):
        await asyncio.wait_for(task, 20)


async def test_a_destroyed_group_is_named_as_such(lab: Lab) -> None:
    handler = Remembers()
    made = consumer(lab, handler)
    task = asyncio.create_task(made.run())
    await lab.append(1)
    await until(lambda: handler.entries)
    await lab.wire.call("XGROUP", "DESTROY", lab.stream, "g")
    with pytest.raises(GroupLost, match="the group was destroyed"):
        await asyncio.wait_for(task, 20)


async def test_recreate_makes_it_again_and_never_in_a_hot_loop(own_lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    handler, events = Remembers(), Events()
    async with running(consumer(own_lab, handler, recreate=Start.HEAD, listener=events)):
        await own_lab.append(1)
        await until(lambda: handler.entries)
        await until_async(lambda: parked(own_lab))
        await own_lab.wire.call("CONFIG", "RESETSTAT")
        await own_lab.wire.call("FLUSHALL")
        await own_lab.append(3, first=1)
        await until(lambda: len(handler.entries) == 4)
        stats = (await own_lab.wire.call("INFO", "commandstats")).decode()
    assert sorted(handler.seen) == [0, 1, 2, 3]
    assert events.of(GroupMade)[-1] == GroupMade("0", again=True)
    assert sum("is gone" in record.message for record in caplog.records) == 1
    created = [line for line in stats.splitlines() if "xgroup|create" in line]
    assert int(created[0].split("calls=")[1].split(",")[0]) == 1


async def test_what_runs_while_the_group_is_remade_is_not_run_again(lab: Lab) -> None:
    await lab.append(1)
    gate, events = asyncio.Event(), Events()
    handler = Remembers(gate=gate)
    async with running(consumer(lab, handler, concurrency=2, recreate=Start.HEAD, listener=events)):
        await until(lambda: handler.entries)
        await lab.wire.call("XGROUP", "DESTROY", lab.stream, "g")
        await until(lambda: len(events.of(GroupMade)) == 2)
        await lab.append(1, first=1)
        await until(lambda: len(handler.entries) == 2)
        gate.set()
        await until_async(lambda: empty(lab))
    assert handler.seen == [0, 1]


async def test_a_key_of_another_kind_is_final(lab: Lab) -> None:
    await lab.wire.call("SET", lab.stream, "x")
    with pytest.raises(WrongType):
        await consumer(lab, Remembers()).run()


async def test_wrong_credentials_are_final(lab: Lab) -> None:
    url = f"redis://nobody:wrong@127.0.0.1:{lab.address.options['port']}"
    with pytest.raises(Refused):
        await consumer(lab, Remembers(), url=url).run()


NEEDED = ("xreadgroup", "xack", "xpending", "xclaim", "xrange", "evalsha", "eval", "xautoclaim", "xadd", "xinfo")


async def as_user(lab: Lab, *rules: str) -> str:
    """Make a user who may do what the rules say; returns the URL."""
    name = "user" + lab.stream.decode().replace(":", "")
    await lab.wire.call("ACL", "SETUSER", name, "reset", "on", ">pw", "~*", *rules)
    return f"redis://{name}:pw@127.0.0.1:{lab.address.options['port']}"


@pytest.mark.parametrize("missing", NEEDED)
async def test_a_missing_permission_is_named_at_the_door(lab: Lab, missing: str) -> None:
    await lab.append(1)
    url = await as_user(lab, "+@all", f"-{missing}")
    handler = Remembers()
    with pytest.raises(Denied, match=missing):
        await consumer(lab, handler, url=url, dead_letter=DeadLetter(3)).run()
    assert handler.entries == []


async def test_it_does_without_destructive_verbs(lab: Lab) -> None:
    """A whole life as a user without them; the server has nothing to complain of."""
    url = await as_user(lab, "+@all", "-xtrim", "-del", "-unlink", "-xdel", "-xgroup", "+xgroup|create")
    await lab.wire.call("ACL", "LOG", "RESET")
    await lab.held("c1", 3)
    ids = await lab.append(5, first=3)
    await lab.read("dead", 5)
    await lab.set_rows(ids, "dead", idle_ms=90_000)
    await lab.wire.call("XDEL", lab.stream, ids[0])
    await lab.append(2, first=8)
    handler = Remembers([1], retry=False)
    async with running(consumer(lab, handler, url=url, dead_letter=DeadLetter(3))):
        await until(lambda: len(handler.entries) == 9)
        await until_async(lambda: empty(lab))
    assert await lab.wire.call("ACL", "LOG") == []


async def test_where_waking_is_not_permitted_stop_waits_out_a_short_park(lab: Lab) -> None:
    url = await as_user(lab, "+@all", "-client|unblock")
    handler = Remembers()
    made = consumer(lab, handler, url=url)
    task = asyncio.create_task(made.run())
    await lab.append(1)
    await until(lambda: handler.entries)
    await until_async(lambda: parked(lab))
    began = time.monotonic()
    await made.stop()
    await task
    assert time.monotonic() - began < 2.0


async def test_a_cancelled_run_ends_at_once(lab: Lab) -> None:
    await lab.append(1)
    handler = Remembers(gate=asyncio.Event())
    task = asyncio.create_task(consumer(lab, handler).run())
    await until(lambda: handler.entries)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)


async def test_every_entry_is_accounted_for_under_kills(lab: Lab) -> None:
    """Set arithmetic over a whole life with kills: nothing lost, nothing invented."""
    handled: list[bytes] = []

    async def handler(entry: Entry) -> Verdict:
        handled.append(entry.payload[b"n"])
        return Ok()

    async with running(consumer(lab, handler)), running(consumer(lab, handler, "c2")):
        for n in range(10):
            await lab.append(300, first=300 * n)
            for name in ("c1", "c2"):
                for client_id in await lab.connections(f"echomq:g:{name}"):
                    await lab.wire.call("CLIENT", "KILL", "ID", client_id)
        await until(lambda: len(set(handled)) == 3000)
        await until_async(lambda: empty(lab))
    assert {int(n) for n in handled} == {*range(3000)}


async def test_a_permission_lost_in_mid_run_is_final(lab: Lab) -> None:
    """Without renewals every slow handler would lose its entry, silently."""
    url = await as_user(lab, "+@all")
    await lab.append(1)
    gate = asyncio.Event()
    handler = Remembers(gate=gate)
    task = asyncio.create_task(consumer(lab, handler, url=url, min_idle=0.4).run())
    await until(lambda: handler.entries)
    name = "user" + lab.stream.decode().replace(":", "")
    await lab.wire.call("ACL", "SETUSER", name, "-evalsha", "-eval")
    asyncio.get_running_loop().call_later(1.0, gate.set)  # the end waits for what runs
    with pytest.raises(Denied, match="evalsha"):
        await asyncio.wait_for(task, 10)
