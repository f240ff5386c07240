"""Entry ids read, write and order as the server does it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_console.model.entry import StreamEntry, branded_id_of, pairs_of
from echomq_console.model.entry_id import ZERO, EntryId
from echomq_console.server.wire import Wire

MAX = (1 << 64) - 1
parts = st.integers(0, MAX)
ids = st.builds(EntryId, parts, parts)


@given(ids)
def test_an_id_survives_the_round_trip(entry_id: EntryId) -> None:
    assert EntryId.parse(bytes(entry_id)) == entry_id
    assert EntryId.parse(str(entry_id)) == entry_id
    assert bytes(entry_id) == str(entry_id).encode()


@given(ids, ids)
def test_ids_order_by_milliseconds_then_sequence(one: EntryId, two: EntryId) -> None:
    assert (one < two) == (one.ms < two.ms or (one.ms == two.ms and one.seq < two.seq))
    assert (one == two) == (bytes(one) == bytes(two))


def test_ids_order_as_numbers_and_not_as_text() -> None:
    assert EntryId.parse("9-10") > EntryId.parse("9-9")
    assert EntryId.parse("10-0") > EntryId.parse("9-99")


@given(ids.filter(lambda i: i != EntryId(MAX, MAX)))
def test_nothing_lies_between_an_id_and_its_successor(entry_id: EntryId) -> None:
    after = entry_id.successor()
    assert (after.ms << 64 | after.seq) == (entry_id.ms << 64 | entry_id.seq) + 1
    assert EntryId.parse(bytes(after)) == after


def test_a_bare_number_means_sequence_zero() -> None:
    assert EntryId.parse("1769526697641") == EntryId(1769526697641, 0)
    assert EntryId.parse(b"0-0") == ZERO


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "1-", "-1", "1-2-3", "a-1", "1-a", "+1-0", "1 -0", " 1-0", "1-0\n", "1_0-0", "１-0"),
        *("*", "$", ">", "(1-0", f"{MAX + 1}-0", f"0-{MAX + 1}", "9" * 5000),
    ],
)
def test_what_is_no_id_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="not an entry id") as caught:
        EntryId.parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@given(st.binary(max_size=30))
def test_bytes_are_read_or_refused(text: bytes) -> None:
    try:
        entry_id = EntryId.parse(text)
    except ValueError:
        return
    assert entry_id.ms <= MAX
    assert entry_id.seq <= MAX


async def test_the_server_agrees_about_order_and_the_greatest_id(any_wire: Wire, stream: bytes) -> None:
    ascending = [EntryId(9, 9), EntryId(9, 10), EntryId(10, 0), EntryId(10, MAX), EntryId(MAX, MAX)]
    for entry_id in ascending:
        await any_wire.call("XADD", stream, bytes(entry_id), "a", "b")
    reply = await any_wire.call("XRANGE", stream, "-", "+")
    assert [EntryId.parse(text) for text, _ in reply] == ascending
    assert EntryId(10, MAX).successor() == EntryId(11, 0)


def test_an_entry_keeps_order_and_repeated_names() -> None:
    pairs = pairs_of([b"a", b"1", b"b", b"\xff", b"a", b"2"])
    assert pairs == ((b"a", b"1"), (b"b", b"\xff"), (b"a", b"2"))
    with pytest.raises(ValueError, match="argument"):
        pairs_of([b"a"])


@pytest.mark.parametrize(
    ("pairs", "branded"),
    [
        (((b"id", b"EVT000xY9Wvvcd"), (b"x", b"1")), "EVT000xY9Wvvcd"),
        (((b"x", b"1"), (b"id", b"EVT000xY9Wvvcd")), "EVT000xY9Wvvcd"),
        (((b"id", b"EVT000xY9Wvvcd"), (b"id", b"USR0KHTOWnGLuC")), "EVT000xY9Wvvcd"),
        (((b"id", b"7"), (b"id", b"USR0KHTOWnGLuC")), None),  # only the first field of that name counts
        (((b"ID", b"EVT000xY9Wvvcd"),), None),
        ((), None),
    ],
)
def test_the_branded_id_is_the_first_field_called_id(
    pairs: tuple[tuple[bytes, bytes], ...], branded: str | None
) -> None:
    found = branded_id_of(pairs)
    assert (None if found is None else str(found)) == branded
    assert StreamEntry(ZERO, pairs).branded_id == found
