"""The entry a handler sees."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_BRANDED = re.compile(rb"[A-Z]{3}[0-9A-Za-z]{11}")
_LAST = b"AzL8n0Y58m7"
"""2**63 - 1 in the branded alphabet. Text order is numeric order, so one comparison says "63 bits"."""


class Entry(NamedTuple):
    """One entry, as its handler gets it.

    `id`: the branded id, or the stream entry id where the entry has no valid one. `payload`: the fields, the last value
    of a repeated name. `attempts`: the server's delivery count (1 at the first delivery; each drain or claim that
    begins the handler adds 1). `group`: the consumer group.
    """

    id: str
    payload: Mapping[bytes, bytes]
    attempts: int
    group: str


def entry_of(entry_id: bytes, fields: Sequence[bytes], attempts: int, group: str) -> Entry:
    """Make the entry of a raw reply: its stream entry id and its flat `name, value, ...` list."""
    if len(fields) > 1 and fields[0] == b"id":
        branded = fields[1]
        if len(branded) == 14 and branded[3:] <= _LAST and _BRANDED.fullmatch(branded):
            rest = iter(fields)
            next(rest), next(rest)
            return Entry(branded.decode(), dict(zip(rest, rest, strict=True)), attempts, group)
        return Entry(entry_id.decode(), _mapping(fields), attempts, group)
    if b"id" in fields[::2]:
        return _with_id_inside(entry_id, fields, attempts, group)
    return Entry(entry_id.decode(), _mapping(fields), attempts, group)


def is_branded(text: bytes) -> bool:
    """Whether a text is a branded id; the same answer as `model.branded.parse_branded`, without the arithmetic."""
    return len(text) == 14 and text[3:] <= _LAST and _BRANDED.fullmatch(text) is not None


def _mapping(fields: Sequence[bytes]) -> dict[bytes, bytes]:
    items = iter(fields)
    return dict(zip(items, items, strict=True))


def _with_id_inside(entry_id: bytes, fields: Sequence[bytes], attempts: int, group: str) -> Entry:
    """Read an entry whose field `id` is not the first: only the first field of that name can be the branded id."""
    at = 2 * fields[::2].index(b"id")
    if not is_branded(fields[at + 1]):
        return Entry(entry_id.decode(), _mapping(fields), attempts, group)
    return Entry(fields[at + 1].decode(), _mapping([*fields[:at], *fields[at + 2 :]]), attempts, group)
