"""Handlers, contained: one that ends its program (`sys.exit`) has failed on an entry, and ends nothing else here."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from echomq_console.engine import Error, HandlerNotFound, load_handler
from echomq_console.engine.entry import Entry
from echomq_console.engine.handlers import Handler
from echomq_console.engine.hands import is_async
from echomq_console.engine.verdict import Verdict


def contained_handler(spec: str) -> Handler:
    """Find a handler by name; its `SystemExit` is an `Error` like any other. Raises HandlerNotFound."""
    try:
        handler: Any = load_handler(spec)
    except SystemExit as ended:
        raise HandlerNotFound(f"the handler {spec!r} called exit({ended.code}) while it was imported") from None

    async def in_loop(entry: Entry) -> Verdict:
        try:
            verdict: Verdict = await handler(entry)
        except SystemExit as ended:
            return _failed(ended)
        return verdict

    def in_thread(entry: Entry) -> Awaitable[Verdict] | Verdict:
        try:
            verdict: Any = handler(entry)
        except SystemExit as ended:
            return _failed(ended)
        return _awaited(verdict) if inspect.isawaitable(verdict) else verdict

    return in_loop if is_async(handler) else in_thread


async def _awaited(verdict: Awaitable[Verdict]) -> Verdict:
    """A plain function that gave back a coroutine, as a wrapped one does: it ends nothing else either."""
    try:
        return await verdict
    except SystemExit as ended:
        return _failed(ended)


def _failed(ended: SystemExit) -> Error:
    return Error(f"the handler called exit({'' if ended.code is None else ended.code})")
