"""The demo services' own code: what an operator picks as the handler of a recovery."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from echomq_console.engine import Entry, Verdict

HANDLER = "echomq_console.demo.handlers:handle"
"""How an operator names `handle`."""


async def handle(entry: Entry) -> Verdict:
    """Handle an order's event or a payment's capture: a few milliseconds, and no for what cannot be done."""
    from echomq_console.engine import Error, Ok

    await asyncio.sleep(0.003)
    try:
        document = json.loads(entry.payload[b"data"], strict=False)
    except (KeyError, ValueError):
        document = None
    if not isinstance(document, dict):
        return Error("the entry holds no JSON document")
    if document.get("amount", 0) is None:
        return Error("amount is null: cannot capture")
    return Ok()
