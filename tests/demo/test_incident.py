"""The seeded incident has exactly the numbers that it promises."""

from __future__ import annotations

import json
from typing import Any

import pytest

from echomq_console.demo.incident import ORDERS, PAYMENTS, SCENARIO, seed
from echomq_console.demo.payloads import POISON
from echomq_console.demo.scenario import SCENARIOS, DemoError, find_scenario
from echomq_console.model.entry import StreamEntry
from echomq_console.model.snapshot import GroupState, PendingEntry
from echomq_console.server.address import Address
from echomq_console.server.commands import (
    client_list,
    entries_between,
    group_consumers,
    pending_range,
    pending_summary,
    server_time,
    stream_groups,
)
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import CommandError, GroupExists
from echomq_console.server.wire import Wire


async def rows_of(wire: Wire, stream: bytes, group: bytes) -> tuple[PendingEntry, ...]:
    rows: tuple[PendingEntry, ...] = await wire.ask(pending_range(stream, group, count=10_000))
    return rows


async def entries_of(wire: Wire, stream: bytes) -> tuple[StreamEntry, ...]:
    entries: tuple[StreamEntry, ...] = await wire.ask(entries_between(stream, count=10_000))
    return entries


async def test_each_group_holds_exactly_what_the_story_says(stage: Wire) -> None:
    await seed(stage)
    held: dict[bytes, Any] = {}
    for stream, group in ((ORDERS, b"billing"), (ORDERS, b"mailer"), (ORDERS, b"search"), (PAYMENTS, b"ledger")):
        held[group] = (await stage.ask(pending_summary(stream, group))).by_consumer
    assert held == {
        b"billing": {b"web-3": 60},
        b"mailer": {b"mail-1": 38},
        b"search": {},
        b"ledger": {b"pay-2": 1},
    }


async def test_delivery_counts_are_one_and_the_poison_entry_has_seven(stage: Wire) -> None:
    seeded = await seed(stage)
    gone = await rows_of(stage, ORDERS, b"billing")
    undrained = await rows_of(stage, ORDERS, b"mailer")
    (poison,) = await rows_of(stage, PAYMENTS, b"ledger")
    assert {row.delivery_count for row in gone + undrained} == {1}
    assert tuple(row.id for row in gone) == seeded.gone
    assert tuple(row.id for row in undrained) == seeded.undrained
    assert (poison.id, poison.consumer, poison.delivery_count) == (seeded.poison, b"pay-2", 7)


async def test_every_group_is_caught_up_and_every_consumer_is_known(stage: Wire) -> None:
    await seed(stage)
    groups: list[GroupState] = [*await stage.ask(stream_groups(ORDERS)), *await stage.ask(stream_groups(PAYMENTS))]
    assert {group.name: group.lag for group in groups} == {b"billing": 0, b"mailer": 0, b"search": 0, b"ledger": 0}
    known = {g.name: {c.name for c in await stage.ask(group_consumers(g.stream, g.name))} for g in groups}
    assert known == {
        b"billing": {b"web-1", b"web-2", b"web-3"},
        b"mailer": {b"mail-1", b"mail-2"},
        b"search": {b"idx-1", b"idx-2", b"idx-3"},
        b"ledger": {b"pay-1", b"pay-2"},
    }


async def test_every_entry_is_one_that_an_echomq_writer_wrote(stage: Wire) -> None:
    await seed(stage)
    now_ms = await stage.ask(server_time())
    orders, payments = await entries_of(stage, ORDERS), await entries_of(stage, PAYMENTS)
    assert (len(orders), len(payments)) == (1200, 240)
    for entry in orders + payments:
        assert [name for name, _ in entry.pairs] == [b"id", b"data"]
        branded = entry.branded_id
        assert branded is not None
        assert branded.namespace == "EVT"
        assert branded.entry_id == entry.id
        assert now_ms - 70_000 < branded.minted_ms <= now_ms
        document = json.loads(entry.pairs[1][1], strict=False)
        assert document["event"].split(".")[0] in ("order", "payment")


async def test_the_poison_entry_is_visibly_bad_and_holds_raw_escape_bytes(stage: Wire) -> None:
    seeded = await seed(stage)
    bad = [
        entry
        for entry in await entries_of(stage, PAYMENTS)
        if json.loads(entry.pairs[1][1], strict=False)["amount"] is None
    ]
    assert [entry.id for entry in bad] == [seeded.poison]
    data = bad[0].pairs[1][1]
    assert data == POISON
    assert b"\x1b]0;owned\x07" in data
    assert json.loads(data, strict=False)["note"] == "[/x] " + "\x1b]0;owned\x07 " + "\x1b]0;owned\x07"


async def test_the_killed_consumer_had_a_connection_of_its_own_and_it_is_closed(
    stage: Wire, any_server: EmbeddedServer
) -> None:
    address = Address.parse(any_server.url)
    dialled: list[str] = []
    seen: list[str] = []

    class Watched(Wire):
        async def close(self) -> None:
            if self.is_open:
                seen.extend(client["name"] for client in await self.ask(client_list()))
            await super().close()

    def dial(name: str) -> Wire:
        dialled.append(name)
        return Watched(address, name=name)

    await seed(stage, dial)
    assert dialled == ["echomq:billing:web-3", "echomq:mailer:mail-1", "echomq:ledger:pay-2"]
    assert set(dialled) <= set(seen), "each was connected under its own name until its end"
    left = {client["name"] for client in await stage.ask(client_list())}
    assert not left & set(dialled)


async def test_a_seed_number_decides_the_payloads(stage: Wire) -> None:
    async def data(number: int) -> list[bytes]:
        await stage.call("DEL", ORDERS, PAYMENTS)
        await seed(stage, number=number)
        entries = await entries_of(stage, ORDERS) + await entries_of(stage, PAYMENTS)
        return [entry.pairs[1][1] for entry in entries]

    first, again, other = await data(5), await data(5), await data(6)
    assert first == again
    assert first != other


async def test_seeding_over_an_incident_is_refused_and_changes_nothing(stage: Wire) -> None:
    await seed(stage)
    with pytest.raises(GroupExists):
        await seed(stage)
    assert len(await rows_of(stage, ORDERS, b"billing")) == 60
    assert len(await entries_of(stage, ORDERS)) == 1200


async def test_a_stream_that_takes_none_of_its_entries_is_an_error(stage: Wire) -> None:
    await stage.call("XADD", PAYMENTS, "99999999999999-0", "from", "the future")
    with pytest.raises(CommandError, match="equal or smaller"):
        await seed(stage)


def test_the_registry_knows_every_scenario_by_its_name() -> None:
    for name in SCENARIOS:
        assert find_scenario(name).name == name
    with pytest.raises(DemoError, match=r"^no scenario is called 'flood': choose incident$"):
        find_scenario("flood")


def test_the_incident_shows_within_seconds() -> None:
    assert (SCENARIO.thresholds.job_ms, SCENARIO.thresholds.stalled_ms) == (5_000, 10_000)
    readers = {(reader.group, reader.name) for reader in SCENARIO.readers}
    assert (b"billing", b"web-3") not in readers, "the killed consumer must not come back"
    assert {(b"mailer", b"mail-1"), (b"ledger", b"pay-2")} <= readers, "these two read on"
