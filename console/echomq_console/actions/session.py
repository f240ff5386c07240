"""A session: one operator at one server, with what every action needs."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass, field

from echomq_console.audit.log import AuditLog
from echomq_console.model.finding import Thresholds
from echomq_console.server.address import Address
from echomq_console.server.wire import Wire


class ActionRefused(Exception):
    """An action is not run; `str()` is one line that says why and what to do."""


def login_at_host() -> str:
    """Who acts, from where: `<login>@<host>`."""
    try:
        login = getpass.getuser()
    except (OSError, KeyError):
        login = "unknown"
    return f"{login}@{socket.gethostname().partition('.')[0]}"


@dataclass(frozen=True, slots=True)
class Session:
    """One operator at one server.

    `console_name` is the console's own stable consumer name: what an autoclaim claims to.
    """

    address: Address
    wire: Wire
    audit: AuditLog
    thresholds: Thresholds = field(default_factory=Thresholds)
    actor: str = field(default_factory=login_at_host)
    read_only: bool = False

    @property
    def console_name(self) -> bytes:
        """The consumer name this console claims to: `console-<login>@<host>`."""
        return f"console-{self.actor}".encode("utf-8", "surrogateescape")

    def require_writable(self) -> None:
        """Raise ActionRefused where this console was started read-only."""
        if self.read_only:
            raise ActionRefused("read-only: nothing is changed from here (start without --read-only to allow it)")
