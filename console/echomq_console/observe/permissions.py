"""Permissions: what a user may not ask is said once, and asked again only now and then.

Every refusal leaves a line in the server's ACL LOG, so a denied command is not repeated at every poll.
"""

from __future__ import annotations

from echomq_console.server.errors import ServerError

ASK_AGAIN = 60
"""Polls between two tries of something that was denied."""


class Permissions:
    """Which commands were refused, by name."""

    def __init__(self) -> None:
        self._refused: dict[str, tuple[int, str]] = {}

    def may(self, command: str, tick: int) -> bool:
        """Whether to ask: it was never refused, or long ago."""
        refused = self._refused.get(command)
        return refused is None or tick - refused[0] >= ASK_AGAIN

    def refuse(self, command: str, error: ServerError, tick: int, consequence: str) -> None:
        """Remember a refusal and what is missing because of it."""
        self._refused[command] = (tick, f"{error} ({consequence})")

    def allow(self, command: str) -> None:
        """It was answered."""
        self._refused.pop(command, None)

    def forget(self) -> None:
        """Start afresh: the connection is a new one."""
        self._refused.clear()

    def lines(self) -> tuple[str, ...]:
        """What is refused, one line each."""
        return tuple(line for _, line in self._refused.values())
