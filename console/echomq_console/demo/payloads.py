"""What the demo's services write: small JSON documents, made up, and one that is bad."""

from __future__ import annotations

import json
from random import Random

POISON = (
    b'{"amount":null,"event":"payment.captured","payment":"p-50417",'
    b'"note":"[/x] \\u001b]0;owned\\u0007 \x1b]0;owned\x07"}'
)
"""The bad one: no amount, and a note that would take over a careless terminal, spelt both escaped and raw."""

_ORDER_EVENTS = ("order.created", "order.created", "order.created", "order.changed", "order.cancelled")
_CURRENCIES = ("EUR", "EUR", "USD", "GBP")


def order(random: Random) -> bytes:
    """Make an order's event."""
    return _compact(
        {
            "event": random.choice(_ORDER_EVENTS),
            "order": f"o-{random.randrange(10_000, 100_000)}",
            "customer": f"c-{random.randrange(100, 1_000)}",
            "total": random.randrange(500, 25_000),
            "currency": random.choice(_CURRENCIES),
            "items": random.randrange(1, 6),
        }
    )


def capture(random: Random) -> bytes:
    """Make a payment's capture."""
    return _compact(
        {
            "amount": random.randrange(500, 25_000),
            "event": "payment.captured",
            "payment": f"p-{random.randrange(10_000, 100_000)}",
            "order": f"o-{random.randrange(10_000, 100_000)}",
            "currency": random.choice(_CURRENCIES),
        }
    )


def _compact(document: dict[str, str | int]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
