"""What the server room's tests share."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Protocol, TypeVar

import pytest

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

T = TypeVar("T")
_numbers = itertools.count()


class Eventually(Protocol):
    """Polls a condition until it gives something true, and fails after `seconds`."""

    async def __call__(self, condition: Callable[[], Awaitable[T]], seconds: float = 10) -> T: ...


@pytest.fixture
def eventually() -> Eventually:
    async def poll(condition: Callable[[], Awaitable[T]], seconds: float = 10) -> T:
        give_up = time.monotonic() + seconds
        while not (found := await condition()):
            assert time.monotonic() < give_up, f"not so within {seconds} s"
            await asyncio.sleep(0.01)
        return found

    return poll


class StartServer(Protocol):
    """Starts a server of the kind under test for one test alone, with further settings."""

    def __call__(self, *options: str) -> EmbeddedServer: ...


@pytest.fixture
def start_server(any_server: EmbeddedServer) -> Iterator[StartServer]:
    with ExitStack() as stack:

        def start(*options: str) -> EmbeddedServer:
            return stack.enter_context(EmbeddedServer(any_server._binary, options=options))

        yield start


class Dial(Protocol):
    """Opens a wire to the server under test as a user with these ACL rules."""

    async def __call__(self, *rules: str) -> Wire: ...


@pytest.fixture
async def dial_as(any_server: EmbeddedServer, any_wire: Wire) -> AsyncIterator[Dial]:
    opened: list[Wire] = []
    users: list[str] = []

    async def dial(*rules: str) -> Wire:
        # "key" is in the name on purpose: a refusal quotes the name, and must not be read as one about keys.
        users.append(f"monkey-{os.getpid()}-{next(_numbers)}")
        await any_wire.call("ACL", "SETUSER", users[-1], "on", ">banana-split", *rules)
        opened.append(Wire(Address.parse(f"redis://{users[-1]}:banana-split@127.0.0.1:{any_server.port}")))
        return opened[-1]

    yield dial
    for wire in opened:
        await wire.close()
    for user in users:
        await any_wire.call("ACL", "DELUSER", user)
