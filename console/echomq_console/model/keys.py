"""Keys: what an EchoMQ stream and its dead letters are called. The one place that owns these rules."""

from __future__ import annotations

import re
from typing import NamedTuple

_STREAM = re.compile(rb"emq:\{([^{}]+)\}:stream:(.+)", re.DOTALL)
_DEAD = b":dead"


class StreamName(NamedTuple):
    """The two names in an EchoMQ stream's key."""

    queue: bytes
    stream: bytes


def stream_key(queue: str | bytes, stream: str | bytes) -> bytes:
    """Spell the key of a queue's stream; the queue is the hash tag, so all of a queue shares a cluster slot.

    Raises ValueError for an empty name, or a queue with a brace in it.
    """
    queue, stream = _bytes(queue), _bytes(stream)
    if not queue or not stream or b"{" in queue or b"}" in queue:
        raise ValueError("a queue and a stream need names, and a queue's has no braces")
    return b"emq:{" + queue + b"}:stream:" + stream


def parse_stream_key(key: bytes) -> StreamName | None:
    """Take an EchoMQ stream's key apart; None where it is somebody else's."""
    match = _STREAM.fullmatch(key)
    return StreamName(match[1], match[2]) if match else None


def hash_tag(key: bytes) -> bytes | None:
    """Return the part of a key that decides its cluster slot; None where the whole key does."""
    start = key.find(b"{")
    end = key.find(b"}", start + 1)
    return key[start + 1 : end] if start >= 0 and end > start + 1 else None


def dead_letter_key(stream: bytes) -> bytes:
    """Name the dead-letter stream of a stream, in the same cluster slot wherever a name can be."""
    has_brace = b"{" in stream or b"}" in stream
    return stream + _DEAD if has_brace else b"{" + stream + b"}" + _DEAD


def shares_slot_with_dead_letters(stream: bytes) -> bool:
    """Whether a cluster keeps a stream and its dead letters in one slot (a brace without a tag breaks it)."""
    return hash_tag(stream) is not None or (b"{" not in stream and b"}" not in stream)


def parent_of_dead_letters(key: bytes) -> bytes | None:
    """Return the stream whose dead letters a key would hold by its name; None where the name says no such thing.

    A name alone proves nothing: the entries must end in the provenance block too.
    """
    if not key.endswith(_DEAD) or len(key) == len(_DEAD):
        return None
    plain = key.removesuffix(_DEAD)
    for parent in (plain[1:-1], plain):
        if parent and dead_letter_key(parent) == key:
            return parent
    return None


def _bytes(name: str | bytes) -> bytes:
    return name.encode() if isinstance(name, str) else name
