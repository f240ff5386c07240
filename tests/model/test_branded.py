"""Branded ids: vectors every reader and writer agrees on, and the properties they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_console.model.branded import EPOCH_MS, BrandedId, mint, parse_branded
from echomq_console.model.entry_id import EntryId

snowflakes = st.integers(0, (1 << 63) - 1)
namespaces = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=3, max_size=3)
moments = st.integers(EPOCH_MS, EPOCH_MS + (1 << 41) - 1)


@pytest.mark.parametrize(
    ("text", "namespace", "snowflake"),
    [
        (b"USR0KHTOWnGLuC", "USR", 274557032793636864),
        (b"USR0NgWEfAEJfs", "USR", 320636799581945856),
        (b"USR00000000000", "USR", 0),
        (b"USRAzL8n0Y58m7", "USR", (1 << 63) - 1),
    ],
)
def test_known_ids_are_read_and_written(text: bytes, namespace: str, snowflake: int) -> None:
    assert parse_branded(text) == BrandedId(namespace, snowflake)
    assert str(BrandedId(namespace, snowflake)).encode() == text


def test_the_moment_and_the_entry_id_are_in_it() -> None:
    user = parse_branded(b"USR0KHTOWnGLuC")
    record = parse_branded(b"EVT000xY9Wvvcd")
    assert user is not None
    assert record is not None
    assert user.minted_ms == 1769526697641
    assert record.entry_id == EntryId(1704117200000, 1620567)


@pytest.mark.parametrize(
    "text",
    [
        b"USRzzzzzzzzzzz",  # over 63 bits
        b"USRAzL8n0Y58m8",  # one over 63 bits
        b"not-branded",
        b"",
        b"usr0KHTOWnGLuC",
        b"US10KHTOWnGLuC",
        b"USR0KHTOWnGLu",
        b"USR0KHTOWnGLuCC",
        b"USR0KHTOWnGLu-",
        b"USR0KHTOWnGLu\n",
        b"USR0KHTOWnGLuC\n",
        "USR0KHTOWnGLü".encode(),
        b"USR\x000HTOWnGLuC",
    ],
)
def test_what_is_no_branded_id_is_told_apart(text: bytes) -> None:
    assert parse_branded(text) is None


@given(namespaces, snowflakes)
def test_an_id_survives_the_round_trip(namespace: str, snowflake: int) -> None:
    branded = BrandedId(namespace, snowflake)
    text = str(branded).encode()
    assert len(text) == 14
    assert parse_branded(text) == branded


@given(st.binary(min_size=14, max_size=14) | st.from_regex(rb"[A-Z]{3}[0-9A-Za-z]{11}", fullmatch=True))
def test_a_text_that_is_read_is_written_the_same(text: bytes) -> None:
    branded = parse_branded(text)
    if branded is not None:
        assert str(branded).encode() == text
        assert branded.snowflake < 1 << 63


@given(namespaces, snowflakes, snowflakes)
def test_text_order_is_numeric_order(namespace: str, one: int, two: int) -> None:
    texts = str(BrandedId(namespace, one)), str(BrandedId(namespace, two))
    assert (texts[0] < texts[1]) == (one < two)


@given(moments, st.integers(0, 1023), st.integers(0, 4095))
def test_minting_puts_moment_node_and_sequence_in_their_places(now_ms: int, node: int, sequence: int) -> None:
    branded = mint(now_ms, node=node, sequence=sequence)
    assert branded.namespace == "EVT"
    assert (branded.minted_ms, branded.node, branded.sequence) == (now_ms, node, sequence)
    assert branded.entry_id == EntryId(now_ms, node << 12 | sequence)
    assert parse_branded(str(branded).encode()) == branded


@given(snowflakes, snowflakes)
def test_entry_ids_order_as_snowflakes_do(one: int, two: int) -> None:
    ids = BrandedId("EVT", one).entry_id, BrandedId("EVT", two).entry_id
    assert (ids[0] < ids[1]) == (one < two)


@pytest.mark.parametrize(
    ("now_ms", "node", "sequence"),
    [
        (EPOCH_MS - 1, 0, 0),
        (EPOCH_MS + (1 << 41), 0, 0),
        (EPOCH_MS, -1, 0),
        (EPOCH_MS, 1024, 0),
        (EPOCH_MS, 0, -1),
        (EPOCH_MS, 0, 4096),
    ],
)
def test_what_does_not_fit_is_not_minted(now_ms: int, node: int, sequence: int) -> None:
    with pytest.raises(ValueError, match="a branded id holds"):
        mint(now_ms, node=node, sequence=sequence)


@pytest.mark.parametrize("namespace", ["", "EV", "EVTS", "evt", "EV1", "EVT\n", "ÄVT"])
def test_a_namespace_is_three_letters(namespace: str) -> None:
    with pytest.raises(ValueError, match="three letters"):
        mint(EPOCH_MS, namespace=namespace)
