"""What the engine raises on its own account; what the server refuses comes as `server.errors.ServerError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report


class EngineError(Exception):
    """Anything the engine gives up on; `str()` is one clear line."""


class HandlerNotFound(EngineError):
    """A handler's specification names nothing that can be called."""


class NoConsumer(EngineError):
    """The group has no consumer of that name, and a drain makes none."""


class GroupLost(EngineError):
    """The group vanished while the consumer ran: the stream or the group was deleted, or lost in a failover."""


class DeadLetterRefused(EngineError):
    """Entries could not be moved to the dead letters and are still pending. `report` says what was done before."""

    def __init__(self, text: str, report: Report) -> None:
        super().__init__(text)
        self.report = report
