"""What the demo's tests share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

import pytest

from echomq_console.demo.incident import ORDERS, PAYMENTS
from echomq_console.server.wire import Wire

T = TypeVar("T")


class Eventually(Protocol):
    """Polls a condition until it gives something true, and fails after `seconds`."""

    async def __call__(self, condition: Callable[[], Awaitable[T]], seconds: float = 20) -> T: ...


@pytest.fixture
def eventually() -> Eventually:
    async def poll(condition: Callable[[], Awaitable[T]], seconds: float = 20) -> T:
        give_up = time.monotonic() + seconds
        while not (found := await condition()):
            assert time.monotonic() < give_up, f"not so within {seconds} s"
            await asyncio.sleep(0.02)
        return found

    return poll


@pytest.fixture
async def stage(any_wire: Wire) -> AsyncIterator[Wire]:
    """Each kind of server in turn, with none of the incident's keys before and after."""
    await any_wire.call("DEL", ORDERS, PAYMENTS)
    yield any_wire
    await any_wire.call("DEL", ORDERS, PAYMENTS)
