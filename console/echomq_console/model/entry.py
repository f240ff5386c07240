"""Entries as they are stored: pairs of bytes, in order, names free to repeat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .branded import BrandedId, parse_branded
from .entry_id import EntryId

Pair = tuple[bytes, bytes]
Pairs = tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """An entry of a stream; `pairs` loses nothing: order, repeated names and every byte are kept."""

    id: EntryId
    pairs: Pairs

    @property
    def branded_id(self) -> BrandedId | None:
        """The identity an EchoMQ writer gave it, if one did."""
        return branded_id_of(self.pairs)


def branded_id_of(pairs: Iterable[Pair]) -> BrandedId | None:
    """Read the branded id out of the first field called `id`; None where that is missing or no branded id."""
    for name, value in pairs:
        if name == b"id":
            return parse_branded(value)
    return None


def pairs_of(flat: Iterable[bytes]) -> Pairs:
    """Pair up a flat reply `name, value, name, value, ...`."""
    items = iter(flat)
    return tuple(zip(items, items, strict=True))
