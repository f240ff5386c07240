"""A group that vanished: why, in plain words."""

from __future__ import annotations

from echomq_console.server import commands
from echomq_console.server.errors import ServerError

from .errors import GroupLost
from .place import Place, shown


async def why_lost(place: Place, error: ServerError) -> GroupLost:
    """Say why a group vanished while the consumer ran; where the server does not answer, what it said before."""
    group, stream = shown(place.group), shown(place.stream)
    try:
        kind = await place.wire.ask(commands.key_type(place.stream))
    except ServerError:
        return GroupLost(f"the group {group} of {stream} is gone: {error}")
    if kind == "none":
        why = "the stream was deleted, the server flushed, or a failover lost it"
    elif kind == "stream":
        why = "the stream is there without it: the group was destroyed, or the stream was made anew"
    else:
        why = f"the key holds a {kind} now"
    return GroupLost(f"the group {group} of {stream} is gone: {why}")
