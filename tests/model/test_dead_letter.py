"""Dead letters: the provenance comes off exactly as it was put on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echomq_console.model.dead_letter import (
    PROVENANCE_NAMES,
    DeadLetterEntry,
    Provenance,
    dead_letter_of,
    split_provenance,
)
from echomq_console.model.entry import Pairs, StreamEntry
from echomq_console.model.entry_id import EntryId

any_bytes = st.binary(max_size=12)
field_names = any_bytes | st.sampled_from([*PROVENANCE_NAMES, b"dl:x", b"id"])
originals = st.lists(st.tuples(field_names, any_bytes), max_size=24).map(tuple)
entry_ids = st.builds(EntryId, st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
counts = st.integers(0, (1 << 63) - 1)
provenances = st.builds(
    Provenance, any_bytes, any_bytes, entry_ids, any_bytes, counts, counts, any_bytes, any_bytes, counts
)

SAMPLE = Provenance(b"s", b"g", EntryId(5, 1), b"c", 7, 1234, b"poison", b"ana", 1769526697641)


def test_the_block_has_these_names_in_this_order() -> None:
    assert SAMPLE.pairs() == (
        (b"dl:stream", b"s"),
        (b"dl:group", b"g"),
        (b"dl:id", b"5-1"),
        (b"dl:consumer", b"c"),
        (b"dl:attempts", b"7"),
        (b"dl:idle_ms", b"1234"),
        (b"dl:reason", b"poison"),
        (b"dl:by", b"ana"),
        (b"dl:at", b"1769526697641"),
    )


@given(originals, provenances)
def test_the_original_and_its_provenance_survive_the_round_trip(original: Pairs, provenance: Provenance) -> None:
    assert split_provenance(original + provenance.pairs()) == (original, provenance)
    entry = StreamEntry(EntryId(9, 9), original + provenance.pairs())
    assert dead_letter_of(entry) == DeadLetterEntry(EntryId(9, 9), original, provenance)


@given(originals, provenances, provenances)
def test_a_dead_letter_of_a_dead_letter_loses_one_block_at_a_time(
    original: Pairs, first: Provenance, second: Provenance
) -> None:
    once = original + first.pairs()
    assert split_provenance(once + second.pairs()) == (once, second)


def test_an_original_field_called_like_provenance_survives() -> None:
    original = ((b"dl:x", b"1"), (b"dl:at", b"2"), (b"dl:stream", b"3"))
    assert split_provenance(original + SAMPLE.pairs()) == (original, SAMPLE)
    assert split_provenance(original) == (original, None)


@given(originals, st.integers(0, len(PROVENANCE_NAMES) - 1))
def test_a_block_with_a_part_missing_is_no_block(original: Pairs, missing: int) -> None:
    while original and original[-1][0] == PROVENANCE_NAMES[0]:
        original = original[:-1]  # or it would stand in for the part
    block = SAMPLE.pairs()
    pairs = original + block[:missing] + block[missing + 1 :]
    assert split_provenance(pairs) == (pairs, None)


@given(originals, st.tuples(any_bytes, any_bytes))
def test_a_block_that_is_not_at_the_end_is_no_block(original: Pairs, after: tuple[bytes, bytes]) -> None:
    pairs = (*original, *SAMPLE.pairs(), after)
    assert split_provenance(pairs) == (pairs, None)
    assert dead_letter_of(StreamEntry(EntryId(1, 1), pairs)) is None


@given(st.permutations(SAMPLE.pairs()).filter(lambda pairs: tuple(pairs) != SAMPLE.pairs()))
def test_a_block_in_another_order_is_no_block(pairs: list[tuple[bytes, bytes]]) -> None:
    assert split_provenance(tuple(pairs)) == (tuple(pairs), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"dl:id", b""),
        (b"dl:id", b"x"),
        (b"dl:id", b"1-2-3"),
        (b"dl:attempts", b""),
        (b"dl:attempts", b"many"),
        (b"dl:idle_ms", b"1.5"),
        (b"dl:at", b"\xff"),
        (b"dl:at", b"9" * 5000),
        (b"dl:attempts", b" 7"),
        (b"dl:attempts", b"1_0"),
        (b"dl:attempts", b"+7"),
        (b"dl:idle_ms", b"-0"),
        (b"dl:at", b"007"),
        (b"dl:id", b"5"),
    ],
)
def test_a_block_that_cannot_be_read_back_as_written_is_left_alone(name: bytes, value: bytes) -> None:
    pairs = ((b"a", b"b"), *((n, value if n == name else v) for n, v in SAMPLE.pairs()))
    assert split_provenance(pairs) == (pairs, None)


@given(originals)
def test_whatever_is_read_is_put_together_again(pairs: Pairs) -> None:
    original, provenance = split_provenance(pairs)
    assert original + (provenance.pairs() if provenance else ()) == pairs
