"""Names on a screen: EchoMQ keys as `queue/name`, others as they are; all of them harmless."""

from __future__ import annotations

from echomq_console.model.keys import parse_stream_key
from echomq_console.model.text import harmless


def stream_label(key: bytes, limit: int | None = None) -> str:
    """`orders/events` for an EchoMQ stream, else the key itself."""
    name = parse_stream_key(key)
    if name is None:
        return harmless(key, limit)
    label = f"{harmless(name.queue)}/{harmless(name.stream)}"
    return label if limit is None or len(label) <= limit else label[: limit - 1] + "…"


def group_label(stream: bytes, group: bytes) -> str:
    """`orders/events › billing`."""
    return f"{stream_label(stream)} › {harmless(group)}"
