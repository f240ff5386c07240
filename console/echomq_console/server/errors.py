"""Errors of the server room: what went wrong, and one line that says what to do.

The rooms above never see an exception of the client library.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import redis.exceptions as rx


class ServerError(Exception):
    """Anything the server or the way to it refused; `str()` is one clear line."""


class InvalidAddress(ServerError):
    """The URL cannot be understood."""


class Unreachable(ServerError):
    """No connection, or it was lost, or no answer came in time. Trying again may help."""


class Refused(ServerError):
    """The server wants other credentials. Trying again does not help."""


class Denied(ServerError):
    """The user may not do this (NOPERM). `command` was denied; `rule` is the ACL rule that would allow it."""

    def __init__(self, command: str, rule: str) -> None:
        super().__init__(f"permission denied for {command}: the ACL rule {rule} would allow it")
        self.command = command
        self.rule = rule


class ReadOnly(ServerError):
    """This console was started read-only, and the command would write."""


class CommandError(ServerError):
    """The server answered a command with an error."""


class WrongType(CommandError):
    """The key holds something that is no stream."""


class NoGroup(CommandError):
    """The stream or the group does not exist."""


class NoKey(CommandError):
    """The key does not exist."""


class GroupExists(CommandError):
    """BUSYGROUP: the group was there already."""


class UnknownCommand(CommandError):
    """The server does not know the command or the script."""


class StreamGone(CommandError):
    """UNBLOCKED: the stream vanished under a parked read (7.0)."""


def translate(error: BaseException, command: Sequence[object] = (), address: str = "the server") -> ServerError:
    """Turn an exception of the client library, or of the socket, into one of this room's.

    The library strips known codes from the text, so permissions and credentials go by class; a script's error on 6.2
    carries its code in the middle (`Error running script ...`), so the others are searched for, not matched at the
    start (seen on real servers).
    """
    text = one_line(str(error))
    if isinstance(error, ServerError):
        return error
    code = text.partition(" ")[0]
    if code in _FIRST_WORDS:  # before anything else: what follows may quote a key or a group of any name
        return _FIRST_WORDS[code](text)
    return _connection_error(error, text, address) or _command_error(error, text, command)


def _connection_error(error: BaseException, text: str, address: str) -> ServerError | None:
    """Credentials first: the library counts a wrong password and a loading server among its connection errors."""
    if "NOAUTH" in text or "Authentication required" in text:
        return Refused(f"{address} wants a password: put it into the URL or into ECHOMQ_PASSWORD")
    if isinstance(error, rx.AuthenticationError | rx.AuthorizationError):
        return Refused(f"{address} refused the credentials ({text}): check the user and the password")
    if isinstance(error, rx.BusyLoadingError):
        return Unreachable(f"{address} is loading its data: it answers when that is done")
    if isinstance(error, rx.TimeoutError | TimeoutError):
        return Unreachable(f"{address} did not answer in time")
    if isinstance(error, rx.ConnectionError | OSError):
        return Unreachable(f"{address} cannot be reached: {_cause(error) or text or type(error).__name__}")
    return None


def _cause(error: BaseException) -> str:
    """Say what the system said, where it said anything: the library's own text repeats the address around it."""
    below = error if isinstance(error, OSError) else error.__cause__ or error.__context__
    number = below.errno if isinstance(below, OSError) else None
    return os.strerror(number).lower() if number else ""


def _command_error(error: BaseException, text: str, command: Sequence[object]) -> ServerError:
    if isinstance(error, rx.ReadOnlyError):
        return CommandError("this server is a replica and takes no writes: connect to its primary")
    if isinstance(error, rx.OutOfMemoryError) or "OOM command" in text:
        return CommandError("the server is out of memory and takes no writes: free some, nothing was changed")
    if isinstance(error, rx.NoPermissionError) or any(sign in text for sign in _DENIED_SIGNS):
        return _denied(text, command)
    for code, kind in _CODES:
        if code in text:
            return kind(text)
    return CommandError(text or type(error).__name__)


_CODES: tuple[tuple[str, type[CommandError]], ...] = (
    ("WRONGTYPE", WrongType),
    ("NOGROUP", NoGroup),
    ("BUSYGROUP", GroupExists),
    ("UNBLOCKED", StreamGone),
    ("no such key", NoKey),
    ("requires the key to exist", NoKey),
    ("unknown command", UnknownCommand),
    ("unknown subcommand", UnknownCommand),
)


_FIRST_WORDS = {code: kind for code, kind in _CODES if code.isupper()}

_DENIED_SIGNS = ("NOPERM", "ACL failure in script", "user executing the script can't")
_DENIED_COMMAND = re.compile(r"run the '([^' ]+)' command")
_DENIED_KEY = re.compile(r"access (a|one of the|at least one of the) key")


def _denied(text: str, command: Sequence[object]) -> Denied:
    """Name what was denied, by the server's word where it has one: in a script it is not the command that was sent."""
    words = [_word(part) for part in command[:2]]
    name = words[0].upper() if words else "a command"
    if _DENIED_KEY.search(text):
        return Denied(f"{name} on this key", "~<key pattern>")
    if said := _DENIED_COMMAND.search(text):
        return Denied(said[1].upper().replace("|", " "), f"+{said[1].lower()}")
    if "script" in text:
        return Denied(f"a command inside {name}", "+<that command>")
    if name in _CONTAINERS and len(words) > 1:
        return Denied(f"{name} {words[1].upper()}", f"+{name.lower()}|{words[1].lower()}")
    return Denied(name, f"+{name.lower()}")


_CONTAINERS = frozenset({"XINFO", "XGROUP", "CLIENT", "CONFIG", "ACL", "SCRIPT"})


def _word(part: object) -> str:
    return part.decode("utf-8", "replace") if isinstance(part, bytes) else str(part)


def one_line(text: str, limit: int = 300) -> str:
    """Fold a text that came from outside into one printable line."""
    folded = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(folded.split())[:limit]
