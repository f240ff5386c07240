"""Scenarios: what a demo shows, as data. One file each; this is the list of them and the words they are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

from echomq_console.model.finding import Thresholds
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

SCENARIOS = {"incident": "echomq_console.demo.incident"}
"""Every scenario by name, and the module that holds it as `SCENARIO`."""

Dial: TypeAlias = Callable[[str], Wire]
"""Opens a connection of its own under a client name."""

Payload: TypeAlias = Callable[[Random], bytes]
"""Makes the `data` field of one entry."""


class DemoError(ServerError):
    """The demo cannot be shown; `str()` is one clear line."""


@dataclass(frozen=True, slots=True)
class Producer:
    """A living producer: appends to a stream at a rate, and removes what is long settled."""

    stream: bytes
    per_second: float
    payload: Payload


@dataclass(frozen=True, slots=True)
class Reader:
    """A living consumer: reads new entries only, handles each for `handling` seconds, acknowledges it."""

    stream: bytes
    group: bytes
    name: bytes
    handling: float
    count: int = 5

    @property
    def client_name(self) -> str:
        """What its connection calls itself, so that an operator finds it."""
        return f"echomq:{self.group.decode()}:{self.name.decode()}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One incident and the clients that live around it.

    `seed` puts it on a server, over a wire and connections of its own. `handler` is the services' own code, as an
    operator picks it; `thresholds` are those under which the incident shows within seconds.
    """

    name: str
    summary: str
    seed: Callable[[Wire, Dial], Awaitable[Any]]
    producers: tuple[Producer, ...]
    readers: tuple[Reader, ...]
    thresholds: Thresholds
    handler: str


def find_scenario(name: str) -> Scenario:
    """Load a scenario by its name. Raises DemoError where there is no such one."""
    if name not in SCENARIOS:
        raise DemoError(f"no scenario is called {name!r}: choose {', '.join(sorted(SCENARIOS))}")
    scenario: Scenario = import_module(SCENARIOS[name]).SCENARIO
    return scenario
