"""The engine: the EchoMQ stream consumer, a library of its own.

    consumer = Consumer(client, stream=..., group=..., name=..., start=Start.NEW, handler=handle)
    await consumer.run()

`drain` recovers oneself, `autoclaim` recovers peers, `dead_letter` moves entries by hand. Names load when they are
used: the client library costs a fifth of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .claiming import autoclaim
    from .consumer import Consumer
    from .dead import dead_letter
    from .draining import drain
    from .entry import Entry
    from .errors import DeadLetterRefused, EngineError, GroupLost, HandlerNotFound, NoConsumer
    from .events import (
        Acknowledged,
        Beat,
        Claimed,
        DeadLettered,
        DeadLetterFailed,
        Delivered,
        Disconnected,
        Drained,
        Event,
        Failed,
        Ghost,
        GroupMade,
        Listener,
        Lost,
        Reconnected,
        Released,
    )
    from .handlers import Handler, load_handler
    from .report import Report
    from .verdict import DeadLetter, Error, Ok, Start, StartAt, Verdict

__all__ = [
    "Acknowledged",
    "Beat",
    "Claimed",
    "Consumer",
    "DeadLetter",
    "DeadLetterFailed",
    "DeadLetterRefused",
    "DeadLettered",
    "Delivered",
    "Disconnected",
    "Drained",
    "EngineError",
    "Entry",
    "Error",
    "Event",
    "Failed",
    "Ghost",
    "GroupLost",
    "GroupMade",
    "Handler",
    "HandlerNotFound",
    "Listener",
    "Lost",
    "NoConsumer",
    "Ok",
    "Reconnected",
    "Released",
    "Report",
    "Start",
    "StartAt",
    "Verdict",
    "autoclaim",
    "dead_letter",
    "drain",
    "load_handler",
]

_HOME = {
    "Acknowledged": "events",
    "Beat": "events",
    "Claimed": "events",
    "Consumer": "consumer",
    "DeadLetter": "verdict",
    "DeadLetterFailed": "events",
    "DeadLetterRefused": "errors",
    "DeadLettered": "events",
    "Delivered": "events",
    "Disconnected": "events",
    "Drained": "events",
    "EngineError": "errors",
    "Entry": "entry",
    "Error": "verdict",
    "Event": "events",
    "Failed": "events",
    "Ghost": "events",
    "GroupLost": "errors",
    "GroupMade": "events",
    "Handler": "handlers",
    "HandlerNotFound": "errors",
    "Listener": "events",
    "Lost": "events",
    "NoConsumer": "errors",
    "Ok": "verdict",
    "Reconnected": "events",
    "Released": "events",
    "Report": "report",
    "Start": "verdict",
    "StartAt": "verdict",
    "Verdict": "verdict",
    "autoclaim": "claiming",
    "dead_letter": "dead",
    "drain": "draining",
    "load_handler": "handlers",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"the engine has no {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
