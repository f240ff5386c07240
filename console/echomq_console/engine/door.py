"""The door: what has to be right before a consumer begins. The group exists, and the user may do what it will need."""

from __future__ import annotations

from echomq_console.model.entry_id import EntryId
from echomq_console.server import commands
from echomq_console.server.errors import Denied, GroupExists, NoKey, ServerError
from echomq_console.server.wire import Arg

from .backoff import is_final
from .place import Place
from .scripts import RENEW
from .verdict import Start, StartAt

_END = "18446744073709551615-18446744073709551614"
"""After every entry: a read or a claim from here finds nothing and changes nothing.

One less than the greatest id: that one is how the servers spell `>` inside, and a read "from" it would be given a new
entry (seen on Redis 7.0 and Valkey 9.1).
"""


def start_id(start: StartAt) -> str:
    """Spell where a group begins. Raises ValueError for what is neither a Start nor an entry id."""
    if isinstance(start, Start):
        return start.value
    if start in ("$", "0"):
        return str(start)
    return str(start if isinstance(start, EntryId) else EntryId.parse(start))


async def ensure_group(place: Place, start: StartAt) -> bool:
    """Make the group, and the stream, where it does not exist yet; returns whether it was made. Raises a ServerError.

    At the stream's end the group is told how many entries were ever added (7.0+): without that its lag is unknown
    until it has caught up. Both numbers come from one answer, so what is appended meanwhile is new to the group.
    """
    at = start_id(start)
    extra: tuple[Arg, ...] = ()
    try:
        found, groups = await place.wire.ask_all(
            [commands.stream_info(place.stream), commands.stream_groups(place.stream)]
        )
        for answer in (found, groups):
            if isinstance(answer, ServerError):
                raise answer
        if any(group.name == place.group for group in groups):
            return False
        if at == "$" or at == str(found.last_generated_id):
            at = str(found.last_generated_id)
            if found.entries_added is not None:
                extra = ("ENTRIESREAD", found.entries_added)
    except NoKey:
        pass  # MKSTREAM makes it
    try:
        await place.wire.call("XGROUP", "CREATE", place.stream, place.group, at, "MKSTREAM", *extra)
    except GroupExists:
        return False
    return True


async def check_permissions(place: Place, *, beat: bool, dead_letter: bool, read: bool = True) -> None:
    """Try every command the consumer will need, so that nothing changes. Raises Denied, naming the missing ACL rule.

    `read`: whether it reads new entries; a drain or a claim alone does not.

    An XADD with the id 0-0 is refused before anything is made, an XCLAIM of it finds nothing.
    """
    s, g, n = place.stream, place.group, place.name
    probes: list[tuple[Arg, ...]] = [
        ("XACK", s, g, "0-0"),
        ("XPENDING", s, g, _END, _END, 1),
        ("XCLAIM", s, g, n, 0, "0-0", "JUSTID"),
        ("XRANGE", s, _END, _END, "COUNT", 1),
        ("EVALSHA", RENEW.sha, 1, s, g, n),
        ("EVAL", "return 1", 1, s),
    ]
    if read:
        probes.append(("XREADGROUP", "GROUP", g, n, "COUNT", 1, "STREAMS", s, _END))
    if beat:
        probes.append(("XAUTOCLAIM", s, g, n, 86_400_000, _END, "COUNT", 1, "JUSTID"))
    if dead_letter:
        probes.append(("XADD", place.dead_key, "NOMKSTREAM", "0-0", "probe", "1"))
    for answer in await place.wire.pipeline(probes):
        if isinstance(answer, ServerError) and is_final(answer) and not _is_missing_script(answer):
            raise answer


async def check_move(place: Place) -> None:
    """Try what moving an entry to the dead letters takes, so that nothing changes. Raises Denied.

    An error in the middle of a script undoes nothing on the server: without the right to acknowledge, every try would
    leave one more copy. The script cannot ask for itself, because after an XACK in it a server that is out of memory
    takes its XADD (seen on Valkey 9.1 and Redis 7.0).
    """
    s, g = place.stream, place.group
    probes: tuple[tuple[Arg, ...], ...] = (
        ("XACK", s, g, "0-0"),
        ("XPENDING", s, g, _END, _END, 1),
        ("XRANGE", s, _END, _END, "COUNT", 1),
        ("XADD", place.dead_key, "NOMKSTREAM", "0-0", "probe", "1"),
    )
    for answer in await place.wire.pipeline(probes):
        if isinstance(answer, Denied):
            raise answer


async def may_wake(place: Place, client_id: int) -> bool:
    """Whether a parked read of ours may be woken by CLIENT UNBLOCK."""
    try:
        await place.wire.call("CLIENT", "UNBLOCK", client_id)
    except Denied:
        return False
    return True


def _is_missing_script(error: ServerError) -> bool:
    return "script" in str(error).lower() and not isinstance(error, Denied)
