"""The guide for developers: its programs run, and its permissions are those that are needed."""

from __future__ import annotations

import asyncio
import re
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.engine.conftest import Events, Lab, Remembers, running, until, until_async

from echomq_console.engine import (
    Acknowledged,
    Claimed,
    Consumer,
    DeadLetter,
    DeadLettered,
    Delivered,
    Drained,
    Entry,
    Error,
    Failed,
    Ghost,
    GroupMade,
    Ok,
    Start,
    Verdict,
    drain,
)
from echomq_console.model.keys import stream_key
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import Denied

GUIDE = (Path(__file__).parents[2] / "docs" / "engine.md").read_text("utf-8")
PROGRAMS: list[str] = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
(ACL,) = re.findall(r"^```acl\n(.*)\n```", GUIDE, re.M)


def program(word: str) -> str:
    """The one program of the guide that holds a word."""
    (found,) = [text for text in PROGRAMS if word in text]
    return found


def names_of(word: str, **more: Any) -> dict[str, Any]:
    """Run a program of the guide; returns what it defines."""
    names: dict[str, Any] = {"__name__": "guide"} | more
    exec(compile(program(word), "docs/engine.md", "exec"), names)
    return names


async def test_the_service_in_twenty_lines(own_server: EmbeddedServer, tmp_path: Path) -> None:
    source = program("asyncio.run(main())")
    assert len([line for line in source.splitlines() if line.strip()]) <= 20
    (tmp_path / "service.py").write_text(source.replace("redis://127.0.0.1:6379", own_server.url))
    lab = Lab(own_server.url, stream_key("orders", "events"))
    await lab.wire.call("XADD", lab.stream, "1704117200000-1620567", "id", "EVT000xY9Wvvcd", "amount", "12")
    await lab.wire.call("XADD", lab.stream, "*", "no", "amount")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(tmp_path / "service.py"), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"charged EVT000xY9Wvvcd 12\n"
        await until_async(lambda: lab.wire.call("XLEN", lab.stream + b":dead"))
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    rows = await lab.wire.call("XPENDING", lab.stream, "billing")
    await lab.wire.close()
    assert rows[0] == 0


async def test_both_recoveries_by_hand(lab: Lab, any_client: Redis) -> None:
    recover = names_of("async def recover")["recover"]
    await lab.make_group("billing")
    ids = await lab.append(30)
    for name, count in (("web-1", 10), ("gone", 20)):
        await lab.wire.call("XREADGROUP", "GROUP", "billing", name, "COUNT", count, "STREAMS", lab.stream, ">")
    for entry_id in ids[10:]:
        await lab.wire.call("XCLAIM", lab.stream, "billing", "gone", 0, entry_id, "IDLE", 400_000, "JUSTID")
    own, *claims = await recover(any_client, lab.stream)
    assert own.ids["acknowledged"] == ids[:10]
    assert [i for report in claims for i in report.ids["acknowledged"]] == ids[10:]


async def test_a_unique_key_makes_it_once(lab: Lab, tmp_path: Path) -> None:
    guide = names_of("INSERT INTO charges")
    guide["DATABASE"] = str(tmp_path / "billing.db")
    with closing(sqlite3.connect(guide["DATABASE"])) as database:
        database.execute(re.findall(r"# (CREATE TABLE .*)", program("INSERT INTO charges"))[0])
        for attempts in (1, 2):
            entry = Entry("EVT000xY9Wvvcd", {b"amount": b"12"}, attempts, "billing")
            assert await asyncio.to_thread(guide["record"], entry) == Ok()
        assert database.execute("SELECT * FROM charges").fetchall() == [("EVT000xY9Wvvcd", "12")]


async def test_a_key_set_with_nx_narrows_the_gap(any_client: Redis, stream: bytes) -> None:
    calls: list[str] = []

    async def call_the_other_side(entry: Entry) -> None:
        calls.append(entry.id)
        if len(calls) == 1:
            raise ConnectionError("it went away")

    guide = names_of("nx=True", call_the_other_side=call_the_other_side)
    await guide["redis"].aclose()
    guide["redis"] = any_client
    entry = Entry(stream.decode(), {}, 1, "billing")
    with pytest.raises(ConnectionError):
        await guide["send"](entry)
    assert await guide["send"](entry) == Error("begun elsewhere, and not done yet")
    await any_client.delete(f"billing:sent:{entry.id}")  # it expires
    assert await guide["send"](entry) == Ok()
    assert await guide["send"](entry) == Ok()
    assert len(calls) == 2


async def test_the_listener_hears_what_happens(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    guide = names_of("def listen")
    ids = await lab.held("web-1", 3)
    policy = DeadLetter(max_attempts=5)
    await lab.set_rows(ids[:1], "web-1", deliveries=5)
    await drain(lab.address, **lab.of("web-1"), handler=Remembers([1]), dead_letter=policy, listener=guide["listen"])
    assert guide["counts"] == {"DeadLettered": 1, "Delivered": 2, "Failed": 1, "Acknowledged": 1}
    said = [record.getMessage() for record in caplog.records if record.name == "billing"]
    assert said[0].startswith(f"{ids[0]} is dead letter ")
    assert said[1:] == [f"{ids[1]} failed, attempt 2: bad one"]


def test_every_program_is_run_here() -> None:
    assert len(PROGRAMS) == 5


# -- the permissions -----------------------------------------------------------------------------------------------

RULES = ACL.split()[3:]
COMMANDS = [rule for rule in RULES if rule.startswith("+")]
SPARE = {"+type", "+client|id", "+client|unblock", "+client|setname", "+time"}
"""What the guide says can be left out."""


class Clerk:
    """A user with some rules, for the streams of a lab."""

    def __init__(self, lab: Lab, rules: list[str]) -> None:
        self.name = f"clerk-{lab.stream.decode()}"
        self._lab = lab
        stream, dead = (f"~{key.decode()}" for key in (lab.stream, lab.dead_key))
        keys = {"~emq:{orders}:stream:events": stream, "~emq:{orders}:stream:events:dead": dead}
        self._rules = [keys.get(rule, rule) for rule in rules]
        self.client = Redis.from_url(lab.address.url, username=self.name, password="secret")

    async def __aenter__(self) -> Clerk:
        await self._lab.wire.call("ACL", "SETUSER", self.name, "reset", *self._rules)
        await self._lab.wire.call("ACL", "LOG", "RESET")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lab.wire.call("ACL", "DELUSER", self.name)
        await self.client.aclose()

    async def denied(self) -> list[bytes]:
        """What the server had to deny this user."""
        said = [dict(zip(row[::2], row[1::2], strict=True)) for row in await self._lab.wire.call("ACL", "LOG")]
        return [row[b"object"] for row in said if row[b"username"] == self.name.encode()]


async def whole_life(lab: Lab, clerk: Clerk) -> Events:
    """A group made; its own list with a ghost drained; a peer's entries claimed, one of them slow, one given up."""
    handled: list[int] = []
    events, gate = Events(), asyncio.Event()

    async def handler(entry: Entry) -> Verdict:
        number = int(entry.payload[b"n"])
        handled.append(number)
        if number == 4:
            await gate.wait()
        return Error("never", retry=False) if number == 3 else Ok()

    async def fresh() -> bool:
        return await lab.idle_of(slow) < 200

    await lab.append(2)
    options: dict[str, Any] = {"min_idle": 0.8, "beat": 0.02, "concurrency": 2, "dead_letter": DeadLetter(5)}
    options |= {"start": Start.HEAD, "handler": handler, "listener": events, **lab.of("web-1")}
    async with running(Consumer(clerk.client, **options)):
        await until(lambda: events.of(Acknowledged))
    await lab.append(3, first=2)
    _, poison, slow = await lab.read("gone", 3)
    own, _ = await lab.append(2, first=5)
    await lab.read("web-1", 1)
    await lab.wire.call("XDEL", lab.stream, own)
    await lab.set_rows([poison, slow], "gone", idle_ms=90_000)
    async with running(Consumer(clerk.client, **options)):
        await until(lambda: 4 in handled)
        await until_async(lambda: _older(lab, slow))
        await until_async(fresh)
        gate.set()
        await until(lambda: {3, 4, 6} <= set(handled) and events.of(DeadLettered))
        await until_async(lambda: _settled(lab))
    return events


async def _older(lab: Lab, entry_id: str) -> bool:
    return await lab.idle_of(entry_id) >= 200


async def _settled(lab: Lab) -> bool:
    return len(await lab.rows()) <= 1  # what "gone" read last is younger than min_idle


async def test_these_permissions_are_enough(lab: Lab) -> None:
    async with Clerk(lab, RULES) as clerk:
        events = await whole_life(lab, clerk)
        assert await clerk.denied() == []
    kinds = {type(event) for event in events}
    assert {GroupMade, Drained, Delivered, Acknowledged, Ghost, Claimed, DeadLettered, Failed} <= kinds


@pytest.mark.parametrize("rule", [rule for rule in COMMANDS if rule not in SPARE])
async def test_each_of_them_is_needed(lab: Lab, rule: str) -> None:
    await lab.append(1)
    async with Clerk(lab, [each for each in RULES if each != rule]) as clerk:
        consumer = Consumer(
            clerk.client,
            **lab.of("web-1"),
            start=Start.HEAD,
            handler=Remembers(),
            dead_letter=DeadLetter(max_attempts=5),
        )
        with pytest.raises(Denied) as raised:
            await consumer.run()
    assert raised.value.rule in (rule, rule.partition("|")[0]), "6.2 does not name the subcommand"


async def test_some_can_be_left_out(lab: Lab) -> None:
    async with Clerk(lab, [each for each in RULES if each not in SPARE]) as clerk:
        events = await whole_life(lab, clerk)
        assert await clerk.denied() != []
    assert {DeadLettered, Ghost, Claimed} <= {type(event) for event in events}
