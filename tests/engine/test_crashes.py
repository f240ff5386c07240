"""Crashes: a handler that kills its whole process, in real processes that really die."""

from __future__ import annotations

import asyncio
import sys

import pytest
from tests.engine.conftest import Lab, Remembers

from echomq_console.engine import DeadLetter, Entry, Ok, Verdict, autoclaim, drain
from echomq_console.engine.session import Session

PROGRAM = """
import asyncio, os, sys
from echomq_console.engine import Consumer, DeadLetter, Ok, Start, autoclaim, drain
from echomq_console.server.address import Address

verb, url, stream, name, poison, concurrency = sys.argv[1:]
names = dict(stream=stream, group="g", name=name)
more = dict(dead_letter=DeadLetter(4), concurrency=int(concurrency))

async def handle(entry):
    if entry.payload[b"n"] == poison.encode():
        os._exit(9)
    await asyncio.sleep(0)
    return Ok()

async def main():
    address = Address.parse(url)
    if verb == "drain":
        await drain(address, **names, handler=handle, **more)
    elif verb == "autoclaim":
        await autoclaim(address, **names, min_idle=0, handler=handle, count=1000, **more)
    else:
        consumer = Consumer(address, **names, start=Start.HEAD, handler=handle, min_idle=60, beat=60, **more)
        await consumer.run()

asyncio.run(main())
"""


async def die(lab: Lab, verb: str, name: str, poison: int, concurrency: int) -> int:
    """Run a process that lives until it meets the poison; returns its exit code."""
    where = lab.address.options
    url = f"redis://{where['host']}:{where['port']}"
    arguments = (verb, url, lab.stream.decode(), name, str(poison), str(concurrency))
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, *arguments)
    return await process.wait()


@pytest.mark.parametrize(("poison", "concurrency"), [(0, 1), (37, 1), (37, 4)])
async def test_five_rescuers_die_and_only_the_poison_pays(lab: Lab, poison: int, concurrency: int) -> None:
    """The neighbours that are left were begun by nobody: none is near the limit of 4."""
    ids = await lab.held("c1", 100)
    codes = [await die(lab, "autoclaim", f"r{n}", poison, concurrency) for n in range(5)]
    assert codes.count(9) == 3
    assert await dead_ids(lab) == [ids[poison]]
    await autoclaim(lab.address, **lab.of("last"), min_idle=0, handler=Remembers(), count=1000)
    assert await lab.rows() == {}


async def test_restarts_that_die_cost_bystanders_one_count_at_most(lab: Lab) -> None:
    """The process that read 100 is killed in the first handler, five times over; its neighbours keep their attempts."""
    await lab.make_group()
    ids = await lab.append(100)
    codes = []
    for _ in range(4):
        codes.append(await die(lab, "consume", "c1", 0, 1))
        assert all(count <= 2 for i, (_, count) in (await lab.rows()).items() if i != ids[0])
    assert codes == [9] * 4
    assert (await lab.rows())[ids[0]] == ("c1", 4)
    handler = Remembers()
    report = await drain(lab.address, **lab.of("c1"), handler=handler, dead_letter=DeadLetter(4))
    assert report.ids["dead_lettered"] == ids[:1]
    assert 0 not in handler.seen


async def test_what_is_settled_is_acknowledged_before_a_suspect_begins(lab: Lab) -> None:
    ids = await lab.held("c1", 20)
    await lab.set_rows(ids[10:11], "c1", deliveries=2)
    assert await die(lab, "drain", "c1", 10, 1) == 9
    rows = await lab.rows()
    assert list(rows) == ids[10:]
    assert rows[ids[10]] == ("c1", 3)
    assert {count for i, (_, count) in rows.items() if i != ids[10]} == {1}


async def test_settled_is_acknowledged_before_a_suspect_begins_without_any_help(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, where nothing else would have sent the acknowledgements in the meantime."""

    async def never(_: Session) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Session, "settling", never)
    ids = await lab.held("c1", 4)
    await lab.set_rows(ids[3:], "c1", deliveries=2)
    left: list[str] = []

    async def handler(entry: Entry) -> Verdict:
        if entry.id == ids[3]:
            left.extend(await lab.rows())
        return Ok()

    await drain(lab.address, **lab.of("c1"), handler=handler)
    assert left == ids[3:]


async def dead_ids(lab: Lab) -> list[str]:
    return [fields[fields.index(b"dl:id") + 1].decode() for fields in await lab.dead()]
