"""Dead-lettering: atomic, at most once, every byte kept."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine.conftest import Events, Lab, Proxy

from echomq_console.engine import DeadLetterRefused, dead_letter
from echomq_console.engine.events import DeadLettered
from echomq_console.engine.place import Place, Row
from echomq_console.model.dead_letter import split_provenance
from echomq_console.model.entry import pairs_of
from echomq_console.server.address import Address
from echomq_console.server.errors import NoGroup, NoKey, Unreachable
from echomq_console.server.wire import Wire


async def test_every_pair_and_byte_is_kept_and_the_block_says_where_from(lab: Lab) -> None:
    await lab.make_group()
    big = bytes(range(256)) * 4096
    original = [b"a", b"1", b"a", b"2", b"\xff\xfe", b"", b"dl:x", b"mine", b"big", big]
    entry_id = (await lab.wire.call("XADD", lab.stream, "*", *original)).decode()
    await lab.read("c1", 1)
    await lab.set_rows([entry_id], "c1", idle_ms=5000, deliveries=7)
    events = Events()
    report = await dead_letter(
        lab.address, stream=lab.stream, group="g", ids=[entry_id], reason="poison", by="alice", listener=events
    )
    assert report.ids["dead_lettered"] == [entry_id]
    assert await lab.rows() == {}
    (fields,) = await lab.dead()
    pairs, provenance = split_provenance(pairs_of(fields))
    assert pairs == pairs_of(original)
    assert provenance is not None
    assert (provenance.stream, provenance.group, str(provenance.entry_id)) == (lab.stream, b"g", entry_id)
    assert (provenance.consumer, provenance.attempts) == (b"c1", 7)
    assert provenance.idle_ms >= 5000
    assert (provenance.reason, provenance.by) == (b"poison", b"alice")
    now = await lab.wire.call("TIME")
    assert abs(provenance.at_ms - int(now[0]) * 1000) < 10_000
    (event,) = events.of(DeadLettered)
    assert (event.id, event.attempts, event.reason) == (entry_id, 7, "poison")


async def test_more_than_a_script_takes_travels_in_batches(lab: Lab) -> None:
    ids = await lab.held("c1", 350)
    report = await dead_letter(lab.address, stream=lab.stream, group="g", ids=ids, reason="r", by="me")
    assert report.ids["dead_lettered"] == ids
    assert [fields[1] for fields in await lab.dead()] == [b"%d" % n for n in range(350)]


async def test_large_bodies_are_moved_a_few_at_a_time(lab: Lab) -> None:
    await lab.make_group()
    ids = [(await lab.wire.call("XADD", lab.stream, "*", "n", b"x" * 600_000)).decode() for _ in range(7)]
    await lab.read("c1", 7)
    report = await dead_letter(lab.address, stream=lab.stream, group="g", ids=ids, reason="r", by="me")
    assert report.ids["dead_lettered"] == ids


async def test_what_changed_is_skipped_and_named(lab: Lab) -> None:
    ids = await lab.held("c1", 5)
    seen = dict.fromkeys(ids, (b"c1", 1))
    await lab.set_rows(ids[:1], "c2")
    await lab.set_rows(ids[1:2], "c1", deliveries=2)
    await lab.wire.call("XACK", lab.stream, "g", ids[2])
    await lab.wire.call("XDEL", lab.stream, ids[3])
    report = await dead_letter(lab.address, stream=lab.stream, group="g", ids=ids, reason="r", by="me", expect=seen)
    assert report.ids["dead_lettered"] == ids[4:]
    assert report.ids["skipped"] == ids[:4]
    assert report.reasons == {
        ids[0]: "changed: now c2's, delivered 1 times",
        ids[1]: "changed: now c1's, delivered 2 times",
        ids[2]: "not pending any more",
        ids[3]: "deleted from the stream: there is nothing to move",
    }
    assert len(await lab.rows()) == 3


async def test_two_at_once_leave_one_letter_each(lab: Lab) -> None:
    ids = await lab.held("c1", 200)
    both = [dead_letter(lab.address, stream=lab.stream, group="g", ids=ids, reason="r", by=who) for who in ("a", "b")]
    one, other = await asyncio.gather(*both)
    assert one.dead_lettered + other.dead_lettered == 200
    assert one.skipped + other.skipped == 200
    assert len(await lab.dead()) == 200


async def test_a_wrong_type_loses_nothing_and_raises(lab: Lab) -> None:
    ids = await lab.held("c1", 3)
    await lab.wire.call("SET", lab.dead_key, "x")
    with pytest.raises(DeadLetterRefused, match="WRONGTYPE") as raised:
        await dead_letter(lab.address, stream=lab.stream, group="g", ids=ids, reason="r", by="me")
    assert raised.value.report.dead_lettered == 0
    assert await lab.rows() == dict.fromkeys(ids, ("c1", 1))


async def test_too_many_fields_for_a_script(lab: Lab) -> None:
    await lab.make_group()
    many = [part for n in range(4000) for part in (f"f{n}", "v")]
    large = (await lab.wire.call("XADD", lab.stream, "*", *many)).decode()
    (small,) = await lab.append(1)
    await lab.read("c1", 2)
    with pytest.raises(DeadLetterRefused, match="4000 fields") as raised:
        await dead_letter(lab.address, stream=lab.stream, group="g", ids=[large, small], reason="r", by="me")
    assert raised.value.report.ids["dead_lettered"] == [small]
    assert list(await lab.rows()) == [large]


async def test_as_many_fields_as_fit_are_moved(lab: Lab) -> None:
    await lab.make_group()
    many = [part for n in range(3950) for part in (f"f{n}", "v")]
    entry_id = (await lab.wire.call("XADD", lab.stream, "*", *many)).decode()
    await lab.read("c1", 1)
    report = await dead_letter(lab.address, stream=lab.stream, group="g", ids=[entry_id], reason="r", by="me")
    assert report.dead_lettered == 1


async def test_a_lost_reply_and_a_second_sending_leave_one_letter(lab: Lab, proxy: Proxy) -> None:
    ids = await lab.held("c1", 1)
    through = Address.parse(proxy.url)
    place = Place(Wire(through), lab.stream, b"g", b"c1")
    rows = [Row(ids[0].encode(), b"c1", 1)]
    await place.dead_letter([], reason="", by=b"")  # the script is known to the server from here on
    proxy.lose(b"EVALSHA")
    with pytest.raises(Unreachable):
        await place.dead_letter(rows, reason="r", by=b"c1")
    (again,) = await place.dead_letter(rows, reason="r", by=b"c1")
    await place.wire.close()
    assert proxy.lost == 1
    assert again.word == "gone"
    assert len(await lab.dead()) == 1


@pytest.mark.parametrize("missing", ["stream", "group"])
async def test_an_unknown_name_is_an_error(lab: Lab, missing: str) -> None:
    await lab.held("c1", 1)
    names = {"stream": lab.stream, "group": "g"} | {missing: "no-such"}
    with pytest.raises(NoKey if missing == "stream" else NoGroup, match="no-such"):
        await dead_letter(lab.address, **names, ids=["1-1"], reason="r", by="me")  # type: ignore[arg-type]
    assert await lab.wire.call("EXISTS", "no-such", "{no-such}:dead") == 0


async def test_what_is_no_id(lab: Lab) -> None:
    with pytest.raises(ValueError, match="not an entry id"):
        await dead_letter(lab.address, stream=lab.stream, group="g", ids=["nonsense"], reason="r", by="me")
