"""Spelling commands for people: exact, and harmless on a screen."""

from __future__ import annotations

from echomq_console.model.text import harmless, shell_word


def spelled(*parts: bytes | str | int) -> str:
    """Write a server command as one would type it; what cannot be typed is shown escaped."""
    return " ".join(_part(part) for part in parts)


def _part(part: bytes | str | int) -> str:
    if isinstance(part, int):
        return str(part)
    if isinstance(part, str):
        return part
    word = shell_word(part)
    return harmless(part) if word is None else word
