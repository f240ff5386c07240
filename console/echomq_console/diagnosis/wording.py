"""Wording: how findings count and name things."""

from __future__ import annotations

from echomq_console.model.text import harmless, number

_NAME = 60


def entries(count: int) -> str:
    """Count entries: 1 entry, 1,197 entries."""
    return "1 entry" if count == 1 else f"{number(count)} entries"


def shown(name: bytes) -> str:
    """Show a name harmlessly, and not too long for a line."""
    return harmless(name, _NAME)
