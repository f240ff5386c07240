"""The history of a run: what the processes wrote, and what the server holds at the end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.checker import Dead, Event

from echomq_console.model.keys import dead_letter_key
from echomq_console.server.wire import Wire

_PAGE = 5000
_BLOCK = 18
"""The fields a dead letter has at its end, names and values: where it came from."""


@dataclass(frozen=True, slots=True)
class Final:
    """What the server holds: `numbers`: entry id -> number; what is pending or undelivered; the dead letters."""

    numbers: dict[str, int]
    pending: set[int]
    dead: list[Dead]


async def is_settled(wire: Wire, stream: str, group: str) -> bool:
    """Whether everything was delivered and nothing is pending. Raises a ServerError."""
    groups, info, pending = await wire.pipeline(
        [("XINFO", "GROUPS", stream), ("XINFO", "STREAM", stream), ("XPENDING", stream, group)]
    )
    about = next(found for each in groups if (found := _named(each))[b"name"] == group.encode())
    return bool(pending[0] == 0 and about[b"last-delivered-id"] == _named(info)[b"last-generated-id"])


async def look(wire: Wire, stream: str, group: str) -> Final:
    """Read all that the server holds. Raises a ServerError."""
    numbers = {entry_id.decode(): _number(body) async for entry_id, body in _range(wire, stream.encode())}
    groups = map(_named, await wire.call("XINFO", "GROUPS", stream))
    last = _order(next(each[b"last-delivered-id"] for each in groups if each[b"name"] == group.encode()).decode())
    pending = {n for entry_id, n in numbers.items() if _order(entry_id) > last}
    start = "-"
    while rows := await wire.call("XPENDING", stream, group, start, "+", _PAGE):
        # A ghost, whose entry the stream does not hold, would be pending under no number.
        pending.update(numbers.get(row[0].decode(), -1) for row in rows)
        start = f"({rows[-1][0].decode()}"
    dead = []
    async for _, body in _range(wire, dead_letter_key(stream.encode())):
        block = dict(zip(body[-_BLOCK::2], body[-_BLOCK + 1 :: 2], strict=True))
        origin = block[b"dl:id"]
        original = await wire.call("XRANGE", stream, origin, origin)
        dead.append(Dead(_number(body), int(block[b"dl:attempts"]), [[origin, body[:-_BLOCK]]] == original))
    return Final(numbers, pending, dead)


def events(folder: Path, numbers: dict[str, int]) -> Iterator[Event]:
    """Read the histories of all processes. The last line of one that was killed may be torn: it did not count yet."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                said: dict[str, Any] = json.loads(line)
                what = said["e"]
                if what in ("begin", "ok", "error"):
                    yield Event(what, said["n"], said["a"], path.stem)
                elif what in ("acknowledged", "claimed"):
                    for entry_id in said["ids"]:
                        yield Event(what, numbers.get(entry_id, -1), 0, path.stem)


async def _range(wire: Wire, key: bytes) -> AsyncIterator[tuple[bytes, list[bytes]]]:
    start = "-"
    while rows := await wire.call("XRANGE", key, start, "+", "COUNT", _PAGE):
        for entry_id, body in rows:
            yield entry_id, body
        start = f"({rows[-1][0].decode()}"


def _named(flat: Any) -> dict[bytes, Any]:
    items = iter(flat)
    return dict(zip(items, items, strict=True))


def _number(body: list[bytes]) -> int:
    return int(body[body.index(b"n") + 1])


def _order(entry_id: str) -> tuple[int, int]:
    ms, _, sequence = entry_id.partition("-")
    return int(ms), int(sequence)
