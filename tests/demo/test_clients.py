"""The living clients keep the incident as it is, and are well themselves."""

from __future__ import annotations

from echomq_console.demo.clients import Living
from echomq_console.demo.incident import ORDERS, PAYMENTS, SCENARIO, Seeded, seed
from echomq_console.model.entry import StreamEntry
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import GroupState
from echomq_console.server.address import Address
from echomq_console.server.commands import client_list, entries_back, pending_range, stream_groups
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import Eventually

GROUPS = ((ORDERS, b"billing"), (ORDERS, b"mailer"), (ORDERS, b"search"), (PAYMENTS, b"ledger"))


def stuck_in(seeded: Seeded) -> dict[tuple[bytes, EntryId], tuple[bytes, int]]:
    """By group and id: the owner and the delivery count that an incident was seeded with."""
    stuck = {(b"billing", entry_id): (b"web-3", 1) for entry_id in seeded.gone}
    stuck |= {(b"mailer", entry_id): (b"mail-1", 1) for entry_id in seeded.undrained}
    stuck[b"ledger", seeded.poison] = (b"pay-2", 7)
    return stuck


async def test_the_incident_stays_while_the_living_read_on(
    stage: Wire, any_server: EmbeddedServer, eventually: Eventually
) -> None:
    seeded = await seed(stage)
    stuck = stuck_in(seeded)
    oldest_living_ms, greatest_lag = 0, 0
    async with Living(Address.parse(any_server.url), SCENARIO, pace=2) as living:

        async def handled_enough() -> bool:
            nonlocal oldest_living_ms, greatest_lag
            found = {}
            for stream, group in GROUPS:
                for row in await stage.ask(pending_range(stream, group, count=1000)):
                    if (group, row.id) in stuck:
                        found[group, row.id] = (row.consumer, row.delivery_count)
                    else:
                        assert row.delivery_count == 1
                        oldest_living_ms = max(oldest_living_ms, row.idle_ms)
            assert found == stuck
            for stream in (ORDERS, PAYMENTS):
                states: tuple[GroupState, ...] = await stage.ask(stream_groups(stream))
                greatest_lag = max(greatest_lag, *(state.lag or 0 for state in states))
            return living.handled > 200

        await eventually(handled_enough)
    assert oldest_living_ms < 1000, "a living consumer holds nothing for long"
    assert greatest_lag < 20, "the living keep up"


async def test_after_a_recovery_everything_is_well(
    stage: Wire, any_server: EmbeddedServer, eventually: Eventually
) -> None:
    seeded = await seed(stage)
    async with Living(Address.parse(any_server.url), SCENARIO, pace=2):
        gone, undrained = (list(map(bytes, ids)) for ids in (seeded.gone, seeded.undrained))
        claimed = await stage.call("XCLAIM", ORDERS, "billing", "console", 0, *gone)
        assert len(claimed) == 60
        assert await stage.call("XACK", ORDERS, "billing", *gone) == 60
        assert await stage.call("XACK", ORDERS, "mailer", *undrained) == 38
        assert await stage.call("XACK", PAYMENTS, "ledger", bytes(seeded.poison)) == 1

        async def all_settled() -> bool:
            settled = [await stage.call("XPENDING", stream, group) for stream, group in GROUPS]
            states = [*await stage.ask(stream_groups(ORDERS)), *await stage.ask(stream_groups(PAYMENTS))]
            return sum(reply[0] for reply in settled) <= 2 and all(state.lag == 0 for state in states)

        await eventually(all_settled)
        old = max(seeded.gone[-1], seeded.undrained[-1], seeded.poison)
        for stream, group in GROUPS:
            assert not await stage.ask(pending_range(stream, group, end=old, count=10))


async def test_what_is_produced_comes_from_an_echomq_writer(
    stage: Wire, any_server: EmbeddedServer, eventually: Eventually
) -> None:
    await seed(stage)
    async with Living(Address.parse(any_server.url), SCENARIO, pace=3) as living:

        async def produced() -> bool:
            return living.produced > 30

        await eventually(produced)
        newest: tuple[StreamEntry, ...] = await stage.ask(entries_back(ORDERS, count=20))
    for entry in newest:
        branded = entry.branded_id
        assert branded is not None
        assert branded.entry_id == entry.id


async def test_clients_whose_connections_are_killed_come_back(
    stage: Wire, any_server: EmbeddedServer, eventually: Eventually
) -> None:
    await seed(stage)
    address = Address.parse(any_server.url)
    names = {reader.client_name for reader in SCENARIO.readers}
    async with Living(address, SCENARIO, pace=2) as living:

        async def connected() -> dict[str, str]:
            found = {c["name"]: c["id"] for c in await stage.ask(client_list()) if c["name"] in names}
            return found if set(found) == names else {}

        first = await eventually(connected)
        for number in first.values():
            await stage.call("CLIENT", "KILL", "ID", number)

        async def connected_again() -> bool:
            found = await connected()
            return bool(found) and not set(found.values()) & set(first.values())

        await eventually(connected_again)
        before = living.handled

        async def handles_on() -> bool:
            return living.handled > before + 20

        await eventually(handles_on)

    async def all_gone() -> bool:
        return not names & {client["name"] for client in await stage.ask(client_list())}

    await eventually(all_gone)
