"""What was claimed and not yet counted when the connection broke: its next begin is a delivery of its own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Events, Lab, Proxy, Remembers, running, until, until_async

from echomq_console.engine import Consumer, DeadLetter, Drained, Start
from echomq_console.engine import reader as reader_module
from echomq_console.engine.place import Claim, Place
from echomq_console.server.address import Address
from echomq_console.server.errors import Unreachable


def consumer(address: Address, lab: Lab, handler: Remembers, events: Events) -> Consumer:
    more: dict[str, Any] = {"min_idle": 60.0, "beat": 0.05, "dead_letter": DeadLetter(3), "listener": events}
    return Consumer(address, **lab.of("c1"), start=Start.HEAD, handler=handler, **more)


def lose_the_first_claim(monkeypatch: pytest.MonkeyPatch) -> list[Claim]:
    """Lose the answer to the first claim that found something; returns a list of what was lost."""
    claim = Place.autoclaim
    lost: list[Claim] = []

    async def losing(place: Place, cursor: bytes, min_idle_ms: int, count: int) -> Claim:
        got = await claim(place, cursor, min_idle_ms, count)
        if got.ids and not lost:
            lost.append(got)
            raise Unreachable("the answer was lost")
        return got

    monkeypatch.setattr(Place, "autoclaim", losing)
    return lost


async def empty(lab: Lab) -> bool:
    return await lab.rows() == {}


@pytest.mark.parametrize("deliveries", [1, 2])
async def test_a_claim_whose_look_was_lost_is_counted_when_its_turn_comes(
    lab: Lab, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, deliveries: int
) -> None:
    """The claim counts nothing, the connection breaks before the take that would have, and the recovery takes it."""
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    ids = await lab.held("dead", 1)
    handler, events = Remembers(), Events()
    async with running(consumer(Address.parse(proxy.url), lab, handler, events)):
        await until(lambda: events.of(Drained))
        proxy.lose(ids[0].encode())
        await lab.set_rows(ids, "dead", idle_ms=90_000, deliveries=deliveries)
        await until(lambda: handler.entries)
        await until_async(lambda: empty(lab))
    assert proxy.lost == 1
    assert [entry.attempts for entry in handler.entries] == [deliveries + 1]


async def test_a_claim_whose_own_answer_was_lost_is_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, an entry that kills its process would be handed out past the limit, as often as links break."""
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    lost = lose_the_first_claim(monkeypatch)
    await lab.held("dead", 1, deliveries=2, idle_ms=90_000)
    handler = Remembers()
    async with running(consumer(lab.address, lab, handler, Events())):
        await until(lambda: handler.entries)
        await until_async(lambda: empty(lab))
    assert len(lost) == 1
    assert [entry.attempts for entry in handler.entries] == [3]


async def test_a_claim_of_what_only_was_read_is_told_from_a_lost_read(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have a count of 1 and lie in the own list. What is older than what was read before was claimed."""
    monkeypatch.setattr(reader_module, "PARK", 0.1)
    lose_the_first_claim(monkeypatch)
    ids = await lab.held("dead", 1)
    handler = Remembers()
    async with running(consumer(lab.address, lab, handler, Events())):
        await lab.append(1, first=1)
        await until(lambda: handler.entries)
        await lab.set_rows(ids, "dead", idle_ms=90_000)
        await until(lambda: len(handler.entries) == 2)
        await until_async(lambda: empty(lab))
    assert handler.seen == [1, 0]
    assert [entry.attempts for entry in handler.entries] == [1, 2]
