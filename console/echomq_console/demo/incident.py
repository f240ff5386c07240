"""The scenario "incident": a consumer that was killed, one that restarted without draining, and a poison entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Thresholds
from echomq_console.model.keys import stream_key
from echomq_console.server.commands import server_time
from echomq_console.server.wire import Reply, Wire

from .handlers import HANDLER
from .payloads import POISON, capture, order
from .scenario import Dial, Payload, Producer, Reader, Scenario
from .writer import Writer

ORDERS = stream_key("orders", "events")
PAYMENTS = stream_key("payments", "captures")

ORDERS_PER_SECOND = 20
PAYMENTS_PER_SECOND = 4

GONE_ENTRIES = 60
"""What web-3 held when it was killed."""

UNDRAINED_ENTRIES = 38
"""What mail-1 held when it was restarted."""

POISON_DELIVERIES = 7

_HISTORY_SECONDS = 60
_ORDERS = ORDERS_PER_SECOND * _HISTORY_SECONDS
_PAYMENTS = PAYMENTS_PER_SECOND * _HISTORY_SECONDS
_AFTER_POISON = 30


@dataclass(frozen=True, slots=True)
class Seeded:
    """What a seed left behind: the ids of the entries that are stuck, ascending."""

    gone: tuple[EntryId, ...]
    undrained: tuple[EntryId, ...]
    poison: EntryId


async def seed(wire: Wire, dial: Dial | None = None, *, number: int = 1) -> Seeded:
    """Put the incident on a server that has none of its keys. Raises a ServerError.

    `dial` gives the consumers that end a connection of their own; without it they share `wire`. The same `number`
    makes the same payloads. All pending rows are young at first: they age by the server's clock, as real ones do.
    """
    random = Random(number)
    now_ms: int = await wire.ask(server_time())
    gone, undrained = await _seed_orders(wire, dial, random, now_ms)
    poison = await _seed_payments(wire, dial, random, now_ms)
    return Seeded(gone, undrained, poison)


async def _seed_orders(
    wire: Wire, dial: Dial | None, random: Random, now_ms: int
) -> tuple[tuple[EntryId, ...], tuple[EntryId, ...]]:
    await _create_groups(wire, ORDERS, b"billing", b"mailer", b"search")
    await _append(wire, ORDERS, [order] * _ORDERS, random, now_ms)

    for name in (b"idx-1", b"idx-2", b"idx-3"):
        await _read_and_acknowledge(wire, ORDERS, b"search", name, _ORDERS // 3)

    web_3 = _Ended(wire, dial, ORDERS, b"billing", b"web-3")
    await _read_and_acknowledge(wire, ORDERS, b"billing", b"web-1", _ORDERS // 2)
    await _read_and_acknowledge(wire, ORDERS, b"billing", b"web-2", _ORDERS // 2 - 3 * GONE_ENTRIES)
    for _ in range(6):
        await _read_and_acknowledge(wire, ORDERS, b"billing", b"web-1", GONE_ENTRIES // 6)
        await web_3.read(GONE_ENTRIES // 6)
        await _read_and_acknowledge(wire, ORDERS, b"billing", b"web-2", GONE_ENTRIES // 6)
    await web_3.end()

    mail_1 = _Ended(wire, dial, ORDERS, b"mailer", b"mail-1")
    await _read_and_acknowledge(wire, ORDERS, b"mailer", b"mail-2", _ORDERS - 2 * UNDRAINED_ENTRIES)
    for _ in range(2):
        await mail_1.read(UNDRAINED_ENTRIES // 2)
        await _read_and_acknowledge(wire, ORDERS, b"mailer", b"mail-2", UNDRAINED_ENTRIES // 2)
    await mail_1.end()
    return tuple(web_3.held), tuple(mail_1.held)


async def _seed_payments(wire: Wire, dial: Dial | None, random: Random, now_ms: int) -> EntryId:
    await _create_groups(wire, PAYMENTS, b"ledger")
    payloads: list[Payload] = [capture] * _PAYMENTS
    payloads[-_AFTER_POISON] = lambda _random: POISON
    await _append(wire, PAYMENTS, payloads, random, now_ms)

    await _read_and_acknowledge(wire, PAYMENTS, b"ledger", b"pay-1", _PAYMENTS - _AFTER_POISON)
    pay_2 = _Ended(wire, dial, PAYMENTS, b"ledger", b"pay-2")
    await pay_2.read(1)
    for _ in range(POISON_DELIVERIES - 1):  # each restart read its own list again, and failed again
        await pay_2.read_again()
    await pay_2.end()
    await _read_and_acknowledge(wire, PAYMENTS, b"ledger", b"pay-1", _AFTER_POISON // 2)
    await _read_and_acknowledge(wire, PAYMENTS, b"ledger", b"pay-2", _AFTER_POISON // 2)
    return pay_2.held[0]


async def _create_groups(wire: Wire, stream: bytes, *groups: bytes) -> None:
    for group in groups:
        await wire.call("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")


async def _append(wire: Wire, stream: bytes, payloads: Sequence[Payload], random: Random, now_ms: int) -> None:
    """Append entries minted evenly over the last minute, the newest a moment ago."""
    writer = Writer(stream)
    every_ms = _HISTORY_SECONDS * 1000 // len(payloads)
    first_ms = now_ms - every_ms * len(payloads)
    commands = [writer.append(payload(random), first_ms + every_ms * place) for place, payload in enumerate(payloads)]
    for reply in await wire.pipeline(commands):
        if isinstance(reply, Exception):
            raise reply


async def _read_and_acknowledge(wire: Wire, stream: bytes, group: bytes, name: bytes, count: int) -> None:
    reply = await wire.call("XREADGROUP", "GROUP", group, name, "COUNT", count, "STREAMS", stream, ">")
    await wire.call("XACK", stream, group, *map(bytes, _ids(reply)))


def _ids(reply: Reply) -> list[EntryId]:
    return [EntryId.parse(entry_id) for entry_id, _ in reply[0][1]] if reply else []


class _Ended:
    """A consumer whose process ended with entries in hand: it reads, never acknowledges, and its connection closes."""

    def __init__(self, wire: Wire, dial: Dial | None, stream: bytes, group: bytes, name: bytes) -> None:
        self._own = dial(Reader(stream, group, name, 0).client_name) if dial else None
        self._wire = self._own or wire
        self._place = (stream, group, name)
        self.held: list[EntryId] = []

    async def read(self, count: int) -> None:
        """Read new entries."""
        self.held += _ids(await self._call(count, ">"))

    async def read_again(self) -> None:
        """Read its own pending list, as a restart with a drain does: one more delivery for each."""
        await self._call(len(self.held), "0")

    async def _call(self, count: int, start: str) -> Reply:
        stream, group, name = self._place
        return await self._wire.call("XREADGROUP", "GROUP", group, name, "COUNT", count, "STREAMS", stream, start)

    async def end(self) -> None:
        """Close its connection, if it has one of its own."""
        if self._own is not None:
            await self._own.close()


SCENARIO = Scenario(
    name="incident",
    summary="a killed consumer, one restarted without draining, and a poison entry",
    seed=seed,
    producers=(
        Producer(ORDERS, ORDERS_PER_SECOND, order),
        Producer(PAYMENTS, PAYMENTS_PER_SECOND, capture),
    ),
    readers=(
        Reader(ORDERS, b"billing", b"web-1", handling=0.050),
        Reader(ORDERS, b"billing", b"web-2", handling=0.050),
        Reader(ORDERS, b"mailer", b"mail-1", handling=0.040),
        Reader(ORDERS, b"mailer", b"mail-2", handling=0.040),
        Reader(ORDERS, b"search", b"idx-1", handling=0.015),
        Reader(ORDERS, b"search", b"idx-2", handling=0.015),
        Reader(ORDERS, b"search", b"idx-3", handling=0.015),
        Reader(PAYMENTS, b"ledger", b"pay-1", handling=0.080),
        Reader(PAYMENTS, b"ledger", b"pay-2", handling=0.080),
    ),
    thresholds=Thresholds(job_ms=5_000, stalled_ms=10_000),
    handler=HANDLER,
)
