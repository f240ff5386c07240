"""Keys: the one rule of dead-letter names, and the slots of a cluster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_console.model.keys import (
    StreamName,
    dead_letter_key,
    hash_tag,
    parent_of_dead_letters,
    parse_stream_key,
    shares_slot_with_dead_letters,
    stream_key,
)

keys = st.binary(min_size=1, max_size=20) | st.text("ab{}:", min_size=1, max_size=12).map(str.encode)


def crc16(data: bytes) -> int:
    """CRC-16/XMODEM, which decides a key's slot."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def slot(key: bytes) -> int:
    """A key's slot, by the rule of the cluster's specification."""
    opened = key.find(b"{")
    if opened >= 0:
        closed = key.find(b"}", opened + 1)
        if closed > opened + 1:
            key = key[opened + 1 : closed]
    return crc16(key) % 16384


def test_our_own_crc_is_the_specifications() -> None:
    assert crc16(b"123456789") == 0x31C3
    assert slot(b"foo") == 12182
    assert slot(b"{foo}.x") == slot(b"foo") == slot(b"a{foo}{bar}")


@pytest.mark.parametrize(
    ("stream", "dead", "shares"),
    [
        (b"emq:{orders}:stream:events", b"emq:{orders}:stream:events:dead", True),
        (b"orders", b"{orders}:dead", True),
        (b"or:ders", b"{or:ders}:dead", True),
        (b"a{b}c", b"a{b}c:dead", True),
        (b"a}b", b"a}b:dead", False),
        (b"a{}b", b"a{}b:dead", False),
        (b"a{b", b"a{b:dead", False),
        (b"a{}{b}", b"a{}{b}:dead", False),
        (b"a}b{c}", b"a}b{c}:dead", True),
        (b"\xff\x00", b"{\xff\x00}:dead", True),
    ],
)
def test_the_dead_letter_key_of_a_stream(stream: bytes, dead: bytes, shares: bool) -> None:
    assert dead_letter_key(stream) == dead
    assert shares_slot_with_dead_letters(stream) is shares
    assert (slot(stream) == slot(dead)) is shares


@given(keys)
def test_a_stream_and_its_dead_letters_share_a_slot_where_the_rule_says_so(stream: bytes) -> None:
    if shares_slot_with_dead_letters(stream):
        assert slot(dead_letter_key(stream)) == slot(stream)
    else:
        assert b"{" in stream or b"}" in stream
        assert hash_tag(stream) is None


@given(keys)
def test_the_hash_tag_decides_the_slot(key: bytes) -> None:
    tag = hash_tag(key)
    assert slot(key) == crc16(key if tag is None else tag) % 16384


@given(keys)
def test_the_parent_of_a_dead_letter_key_has_that_key(stream: bytes) -> None:
    dead = dead_letter_key(stream)
    parent = parent_of_dead_letters(dead)
    assert parent is not None
    assert dead_letter_key(parent) == dead


@given(keys)
def test_no_other_key_has_a_parent(key: bytes) -> None:
    parent = parent_of_dead_letters(key)
    assert parent is None or dead_letter_key(parent) == key


@pytest.mark.parametrize(
    ("key", "parent"),
    [
        (b"emq:{orders}:stream:events:dead", b"emq:{orders}:stream:events"),
        (b"{orders}:dead", b"orders"),
        (b"a{}b:dead", b"a{}b"),
        (b"orders:dead", None),  # by the rule, the dead letters of `orders` are elsewhere
        (b":dead", None),
        (b"orders", None),
        (b"{orders}:dead:dead", b"{orders}:dead"),
    ],
)
def test_which_keys_are_dead_letters_by_name(key: bytes, parent: bytes | None) -> None:
    assert parent_of_dead_letters(key) == parent


names = st.binary(min_size=1, max_size=12).filter(lambda name: b"{" not in name and b"}" not in name)


@given(names, st.binary(min_size=1, max_size=12))
def test_a_key_is_spelt_and_taken_apart_again(queue: bytes, stream: bytes) -> None:
    key = stream_key(queue, stream)
    assert key == b"emq:{" + queue + b"}:stream:" + stream
    assert parse_stream_key(key) == StreamName(queue, stream)
    assert slot(key) == crc16(queue) % 16384


def test_names_may_be_text() -> None:
    assert stream_key("orders", "events") == stream_key(b"orders", b"events")
    assert stream_key("größe", "ä") == "emq:{größe}:stream:ä".encode()


@pytest.mark.parametrize(("queue", "stream"), [("", "x"), ("x", ""), ("a{b", "x"), ("a}b", "x")])
def test_a_key_needs_names(queue: str, stream: str) -> None:
    with pytest.raises(ValueError, match="need names"):
        stream_key(queue, stream)


@pytest.mark.parametrize(
    "key", [b"orders", b"emq:orders:stream:x", b"emq:{}:stream:x", b"emq:{o}:stream:", b"xemq:{o}:stream:x", b""]
)
def test_a_strangers_key_is_not_taken_apart(key: bytes) -> None:
    assert parse_stream_key(key) is None
