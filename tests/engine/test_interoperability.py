"""The wire contract, seen from outside: other writers, other readers and other tools share the streams and the groups.

The other side is a socket and the protocol: nothing of ours, and no client library, reads or writes for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.engine.conftest import Events, Lab, running, until, until_async

from echomq_console.engine import Consumer, DeadLetter, Entry, Error, Ok, Start, Verdict
from echomq_console.engine.events import Acknowledged, Claimed, DeadLettered, Failed, Lost
from echomq_console.server.embedded import EmbeddedServer

BRANDED, ENTRY_ID = "EVT000xY9Wvvcd", "1704117200000-1620567"
"""A pair from the wire contract: what a writer minted, and the entry id it is appended under."""


class Outsider:
    """Another program on the same stream: it knows the protocol and the contract, and nothing of this engine."""

    def __init__(self, port: int, stream: bytes) -> None:
        self.stream = stream
        self._port = port

    async def __aenter__(self) -> Outsider:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def do(self, *command: bytes | str | int) -> Any:
        """Send one command; returns its reply as the server sent it."""
        parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
        packed = [b"$%d\r\n%s\r\n" % (len(part), part) for part in parts]
        self._writer.write(b"*%d\r\n%s" % (len(parts), b"".join(packed)))
        return await self._reply()

    async def _reply(self) -> Any:
        line = (await self._reader.readline()).rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if kind == b"$":
            return None if rest == b"-1" else (await self._reader.readexactly(int(rest) + 2))[:-2]
        assert kind == b"*", line
        return None if rest == b"-1" else [await self._reply() for _ in range(int(rest))]

    async def append(self, *pairs: bytes | str | int, entry_id: str = "*") -> str:
        """Append an entry by hand."""
        said: bytes = await self.do("XADD", self.stream, entry_id, *pairs)
        return said.decode()

    async def read(self, name: str, count: int) -> list[str]:
        """Read new entries of the same group under another name."""
        ((_, rows),) = await self.do("XREADGROUP", "GROUP", "g", name, "COUNT", count, "STREAMS", self.stream, ">")
        return [entry_id.decode() for entry_id, _ in rows]

    async def claim(self, name: str, entry_id: str, *more: str | int) -> None:
        """Take an entry, whoever has it."""
        assert await self.do("XCLAIM", self.stream, "g", name, 0, entry_id, *more)

    async def pending(self) -> list[tuple[str, str, int]]:
        """The pending list as XPENDING shows it: id, owner, count."""
        rows = await self.do("XPENDING", self.stream, "g", "-", "+", 100)
        return [(entry_id.decode(), owner.decode(), count) for entry_id, owner, _, count in rows]

    async def summary(self) -> tuple[int, dict[str, int]]:
        """The pending list in numbers: how many, and whose."""
        count, _, _, owners = await self.do("XPENDING", self.stream, "g")
        return count, {name.decode(): int(held) for name, held in owners}


class Handler:
    """A handler that waits to be let go, and answers as told."""

    def __init__(self, answer: Verdict) -> None:
        self.answer = answer
        self.entries: list[Entry] = []
        self.go = asyncio.Event()

    async def __call__(self, entry: Entry) -> Verdict:
        self.entries.append(entry)
        await self.go.wait()
        return self.answer

    @property
    def ids(self) -> list[str]:
        return [entry.id for entry in self.entries]


@pytest.fixture
async def outsider(any_server: EmbeddedServer, stream: bytes) -> AsyncIterator[Outsider]:
    async with Outsider(any_server.port, stream) as made:
        yield made


@pytest.fixture(params=["plain", "echomq"])
async def either(
    request: pytest.FixtureRequest, any_server: EmbeddedServer, stream: bytes
) -> AsyncIterator[tuple[Lab, Outsider, bytes]]:
    """A stream of any key, and one that EchoMQ's writers use; with the key of its dead letters, spelled by hand."""
    keys = {
        "plain": (stream, b"{" + stream + b"}:dead"),
        "echomq": (b"emq:{" + stream + b"}:stream:events", b"emq:{" + stream + b"}:stream:events:dead"),
    }
    key, dead_key = keys[request.param]
    lab = Lab(any_server.url, key)
    async with Outsider(any_server.port, key) as made:
        yield lab, made, dead_key
    await lab.wire.close()


def consumer(lab: Lab, handler: Any, events: Events | None = None, **more: Any) -> Consumer:
    options: dict[str, Any] = {"start": Start.HEAD, "min_idle": 60.0, "beat": 0.02} | more
    return Consumer(lab.address, **lab.of("c1"), handler=handler, listener=events, **options)


async def test_an_entry_written_by_hand_has_its_branded_id(lab: Lab, outsider: Outsider) -> None:
    await outsider.append("id", BRANDED, "amount", "12", "amount", "13", b"\xff", b"\x00", entry_id=ENTRY_ID)
    handler, events = Handler(Ok()), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events)):
        await until(lambda: events.of(Acknowledged))
    assert handler.entries == [Entry(BRANDED, {b"amount": b"13", b"\xff": b"\x00"}, 1, "g")]
    assert events.of(Acknowledged) == [Acknowledged((ENTRY_ID,))], "events go by the stream's own id"


@pytest.mark.parametrize("value", [b"not-branded", b"USRzzzzzzzzzzz", b"EVT000xY9Wvvc\xff", b""])
async def test_an_id_that_is_no_branded_one_stays_in_the_payload(lab: Lab, outsider: Outsider, value: bytes) -> None:
    entry_id = await outsider.append("id", value, "amount", "12")
    handler, events = Handler(Ok()), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events)):
        await until(lambda: events.of(Acknowledged))
    assert handler.entries == [Entry(entry_id, {b"id": value, b"amount": b"12"}, 1, "g")]


async def test_the_branded_id_is_the_same_at_every_delivery(lab: Lab, outsider: Outsider) -> None:
    await outsider.append("id", BRANDED, entry_id=ENTRY_ID)
    handler, events = Handler(Error("not yet")), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events)):
        await until(lambda: len(events.of(Failed)) == 1)
    async with running(consumer(lab, handler, events)):
        await until(lambda: len(events.of(Failed)) == 2)
    assert handler.entries == [Entry(BRANDED, {}, attempts, "g") for attempts in (1, 2)]


async def test_an_outsider_sees_who_has_what(lab: Lab, outsider: Outsider) -> None:
    handler = Handler(Ok())
    ids = [await outsider.append("n", n) for n in range(2)]
    async with running(consumer(lab, handler, concurrency=2)):
        await until(lambda: len(handler.entries) == 2)
        assert await outsider.pending() == [(ids[0], "c1", 1), (ids[1], "c1", 1)]
        assert await outsider.summary() == (2, {"c1": 2})
        handler.go.set()
        await until_async(lambda: _nothing_pending(outsider))
        (said,) = await outsider.do("XINFO", "GROUPS", outsider.stream)
        group = dict(zip(said[::2], said[1::2], strict=True))
        assert (group[b"name"], group[b"pending"], group[b"last-delivered-id"].decode()) == (b"g", 0, ids[1])
        assert group.get(b"lag", 0) == 0  # 6.2 does not say


async def _nothing_pending(outsider: Outsider) -> bool:
    return await outsider.pending() == []


async def test_two_kinds_of_reader_share_a_group(lab: Lab, outsider: Outsider) -> None:
    """What another reader holds is let alone, until it has been silent for min_idle; each entry goes to one of them."""
    await lab.make_group()
    ids = [await outsider.append("n", n) for n in range(5)]
    assert await outsider.read("other", 3) == ids[:3]
    handler, events = Handler(Ok()), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events)):
        await until(lambda: len(handler.entries) == 2)
        await until_async(lambda: _rows_are(outsider, [(i, "other", 1) for i in ids[:3]]))
        await outsider.claim("other", ids[1], "IDLE", 90_000, "JUSTID")
        await until(lambda: len(handler.entries) == 3)
        await until_async(lambda: _rows_are(outsider, [(ids[0], "other", 1), (ids[2], "other", 1)]))
    assert handler.ids == [*ids[3:], ids[1]]
    assert [entry.attempts for entry in handler.entries] == [1, 1, 2]
    assert events.of(Claimed) == [Claimed((ids[1],), "beat")]


async def _rows_are(outsider: Outsider, rows: list[tuple[str, str, int]]) -> bool:
    return await outsider.pending() == rows


@pytest.mark.parametrize("answer", [Ok(), Error("no"), Error("no", retry=False)])
async def test_an_acknowledgement_from_outside_settles_it(lab: Lab, outsider: Outsider, answer: Verdict) -> None:
    entry_id = await outsider.append("n", 1)
    handler, events = Handler(answer), Events()
    made = consumer(lab, handler, events, dead_letter=DeadLetter(max_attempts=5))
    async with running(made):
        await until(lambda: handler.entries)
        assert await outsider.do("XACK", outsider.stream, "g", entry_id) == 1
        handler.go.set()
        await until(lambda: events.of(Acknowledged) or events.of(Failed))
    if answer == Ok():
        assert events.of(Acknowledged) == [Acknowledged((entry_id,), already=1)]
    assert await outsider.pending() == []
    assert await outsider.do("EXISTS", lab.dead_key) == 0, "settled work is not dead-lettered after all"
    assert len(handler.entries) == 1


@pytest.mark.parametrize("answer", [Ok(), Error("no"), Error("no", retry=False)])
async def test_a_claim_from_outside_is_respected(lab: Lab, outsider: Outsider, answer: Verdict) -> None:
    entry_id = await outsider.append("n", 1)
    handler, events = Handler(answer), Events()
    made = consumer(lab, handler, events, min_idle=0.4, dead_letter=DeadLetter(max_attempts=5))
    async with running(made):
        await until(lambda: handler.entries)
        await outsider.claim("other", entry_id)
        await until(lambda: events.of(Lost))
        assert await outsider.pending() == [(entry_id, "other", 2)], "it is not taken back"
        handler.go.set()
        if answer == Ok():
            await until(lambda: events.of(Acknowledged))
        else:
            await until(lambda: events.of(Failed))
    assert events.of(Lost) == [Lost(entry_id, running=True)]
    assert made.totals.lost == 1
    assert await outsider.pending() == ([] if answer == Ok() else [(entry_id, "other", 2)])
    assert await outsider.do("EXISTS", lab.dead_key) == 0
    assert len(handler.entries) == 1


async def test_what_failed_here_can_be_settled_outside(lab: Lab, outsider: Outsider) -> None:
    """It is pending under our name, and nobody's work: an outsider takes it, and we do not run it again."""
    entry_id = await outsider.append("n", 1)
    handler, events = Handler(Error("no")), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events, min_idle=0.4)):
        await until(lambda: events.of(Failed))
        await outsider.claim("other", entry_id)
        await outsider.do("XACK", outsider.stream, "g", entry_id)
        later = await outsider.append("n", 2)
        await until(lambda: len([event for event in events.of(Failed) if event.id == later]) == 2)
    assert handler.ids.count(entry_id) == 1


@pytest.mark.parametrize("how", ["refused", "too often"])
async def test_an_outsider_can_read_a_dead_letter(either: tuple[Lab, Outsider, bytes], how: str) -> None:
    lab, outsider, dead_key = either
    pairs = [b"id", BRANDED.encode(), b"a", b"1", b"a", b"2", b"\xff\xfe", b"", b"dl:x", b"mine"]
    await lab.make_group()
    await outsider.append(*pairs, entry_id=ENTRY_ID)
    handler, events = Handler(Error("card declined", retry=how != "refused")), Events()
    handler.go.set()
    if how == "too often":
        await outsider.read("other", 1)
        await outsider.claim("other", ENTRY_ID, "IDLE", 90_000, "RETRYCOUNT", 5, "JUSTID")
    async with running(consumer(lab, handler, events, dead_letter=DeadLetter(max_attempts=5))):
        await until(lambda: events.of(DeadLettered))
    ((entry_id, fields),) = await outsider.do("XRANGE", dead_key, "-", "+")
    assert entry_id.decode() == events.of(DeadLettered)[0].dead_id
    assert fields[: len(pairs)] == pairs, "the original, every byte of it, in its order"
    block = fields[len(pairs) :]
    assert block[::2] == [
        *(b"dl:stream", b"dl:group", b"dl:id", b"dl:consumer", b"dl:attempts"),
        *(b"dl:idle_ms", b"dl:reason", b"dl:by", b"dl:at"),
    ]
    said = dict(zip(block[::2], block[1::2], strict=True))
    assert (said[b"dl:stream"], said[b"dl:group"], said[b"dl:id"]) == (lab.stream, b"g", ENTRY_ID.encode())
    refused = {b"dl:consumer": b"c1", b"dl:attempts": b"1", b"dl:reason": b"card declined", b"dl:by": b"c1"}
    too_often = {b"dl:consumer": b"c1", b"dl:attempts": b"5", b"dl:by": b"c1"}
    assert (refused if how == "refused" else too_often).items() <= said.items()
    assert int(said[b"dl:idle_ms"]) >= 0
    seconds, _ = await outsider.do("TIME")
    assert abs(int(said[b"dl:at"]) / 1000 - int(seconds)) < 60
    assert await outsider.pending() == []
    assert handler.ids == ([BRANDED] if how == "refused" else [])


async def test_an_outsider_takes_over_what_a_consumer_left(lab: Lab, outsider: Outsider) -> None:
    """A consumer that ends leaves nothing but rows like any other: another reader claims and settles them."""
    entry_id = await outsider.append("id", BRANDED, entry_id=ENTRY_ID)
    handler, events = Handler(Error("no")), Events()
    handler.go.set()
    async with running(consumer(lab, handler, events)):
        await until(lambda: events.of(Failed))
    _, rows, *_ = await outsider.do("XAUTOCLAIM", outsider.stream, "g", "other", 0, "0")
    assert rows == [[entry_id.encode(), [b"id", BRANDED.encode()]]]
    assert await outsider.pending() == [(entry_id, "other", 2)]
    assert await outsider.do("XACK", outsider.stream, "g", entry_id) == 1
