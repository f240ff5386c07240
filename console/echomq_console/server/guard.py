"""Read-only, enforced where commands are packed: what is not on the list of looking does not leave the process."""

from __future__ import annotations

from .errors import ReadOnly

_LOOKING = frozenset(
    {
        *("PING", "HELLO", "AUTH", "SELECT", "INFO", "TIME", "SCAN", "TYPE", "EXISTS"),
        *("XINFO", "XPENDING", "XRANGE", "XREVRANGE", "XLEN"),
    }
)
_LOOKING_PARTS = frozenset(
    {("CLIENT", part) for part in ("ID", "SETNAME", "GETNAME", "LIST", "INFO", "SETINFO")} | {("ACL", "WHOAMI")}
)


def require_looking(command: tuple[bytes, ...]) -> None:
    """Raise ReadOnly unless a command only looks."""
    name = command[0].upper().decode("ascii", "replace")
    if name in _LOOKING:
        return
    part = command[1].upper().decode("ascii", "replace") if len(command) > 1 else ""
    if (name, part) not in _LOOKING_PARTS:
        raise ReadOnly(f"read-only: {name} would write and was not sent (start without --read-only to allow it)")
