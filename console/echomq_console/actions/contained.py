"""Handlers, contained: whatever one raises is its entry's failure, and ends nothing else here."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any

from echomq_console.engine import Error, HandlerNotFound, load_handler
from echomq_console.engine.entry import Entry
from echomq_console.engine.handlers import Handler
from echomq_console.engine.hands import is_async
from echomq_console.engine.verdict import Verdict


def contained_handler(spec: str) -> Handler:
    """Find a handler by name; whatever it raises is an `Error` of its entry. Raises HandlerNotFound.

    A `CancelledError` is the engine's to judge: only it knows whether it cancelled the handler itself.
    """
    try:
        handler: Any = load_handler(spec)
    except (HandlerNotFound, asyncio.CancelledError):
        raise
    except BaseException as raised:  # noqa: BLE001  # a foreign module's import: SystemExit and its like among it
        said = _words(raised).removeprefix("the handler ")
        raise HandlerNotFound(f"the handler {spec!r} {said} while it was imported") from None

    async def in_loop(entry: Entry) -> Verdict:
        return await _awaited(handler(entry))

    def in_thread(entry: Entry) -> Awaitable[Verdict] | Verdict:
        try:
            verdict: Any = handler(entry)
        except BaseException as raised:  # noqa: BLE001  # the boundary around a foreign handler
            return Error(_words(raised))
        return _awaited(verdict) if inspect.isawaitable(verdict) else verdict

    return in_loop if is_async(handler) else in_thread


async def _awaited(verdict: Awaitable[Verdict]) -> Verdict:
    """Wait for a coroutine of a foreign handler; also one that a plain function gave back."""
    try:
        return await verdict
    except asyncio.CancelledError:
        raise
    except BaseException as raised:  # noqa: BLE001  # the boundary around a foreign handler
        return Error(_words(raised))


def _words(raised: BaseException) -> str:
    """Say what was raised; an exception that cannot even be turned into text is named by its kind."""
    if isinstance(raised, SystemExit):
        return f"the handler called exit({'' if raised.code is None else raised.code})"
    try:
        text = str(raised)
    except Exception:  # noqa: BLE001  # its own `__str__` is foreign too
        text = "(it cannot be turned into text)"
    return f"{type(raised).__name__}: {text}".rstrip(": ")
