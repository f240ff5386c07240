"""Names on a screen: EchoMQ keys as `queue/name`, others as they are; all of them harmless, none without an end."""

from __future__ import annotations

from echomq_console.model.keys import parse_stream_key
from echomq_console.model.text import harmless

NAME_LIMIT = 200
"""Characters of a name that a screen shows."""

COMMAND_LIMIT = 2000
"""Characters of a command that a screen shows; a longer one is cut, and says so."""


def name_text(name: bytes, limit: int = NAME_LIMIT) -> str:
    """A group, a consumer or whoever acted."""
    return harmless(name, limit)


def stream_label(key: bytes) -> str:
    """`orders/events` for an EchoMQ stream, else the key itself; one that could be taken for the first is in quotes."""
    name = parse_stream_key(key)
    if name is None:
        shown = harmless(key, NAME_LIMIT)
        return f"'{shown}'" if "/" in shown or shown.startswith("'") else shown
    queue = harmless(name.queue, NAME_LIMIT).replace("/", "\\x2f")
    if queue.startswith("'"):
        queue = "\\x27" + queue[1:]
    return f"{queue}/{harmless(name.stream, NAME_LIMIT)}"


def group_label(stream: bytes, group: bytes) -> str:
    """`orders/events › billing`; the sign between the two is escaped inside a name."""
    return " › ".join(part.replace("›", "\\u203a") for part in (stream_label(stream), name_text(group)))


def words(text: str, limit: int = 300) -> str:
    """A sentence of ours, or of a server's, that may quote a name: names in it are harmless already, or are not.

    Backslashes stay single, so that a name which was made harmless before is shown as it was. At most `limit`.
    """
    short = text[:limit]
    shown = "".join(char if char.isprintable() else harmless(char) for char in short)
    return shown if len(shown) <= limit and len(text) <= limit else shown[: limit - 1] + "…"


def command_text(command: str) -> str:
    """A command as it is typed; one too long for a screen is cut and says how long it is."""
    if len(command) <= COMMAND_LIMIT:
        return command
    return f"{command[:COMMAND_LIMIT]}… (cut: {len(command):,} characters)"
