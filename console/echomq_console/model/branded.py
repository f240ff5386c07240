"""Branded ids: the identity an EchoMQ writer gives an entry.

    branded id = 3 letters A-Z + base62 of a 63-bit snowflake, left-padded with 0 to 11 characters
    snowflake  = (ms since 2024-01-01T00:00:00Z) << 22 | node << 12 | sequence

The alphabet ascends (digits, A-Z, a-z), so the text order of ids is their numeric order. The branded id is the
idempotency key: it survives redelivery, dead-lettering and redrive.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .entry_id import EntryId

EPOCH_MS = 1_704_067_200_000
"""2024-01-01T00:00:00Z in Unix milliseconds."""

RECORD_NAMESPACE = "EVT"
"""The namespace of stream records."""

_ALPHABET = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGIT = {byte: value for value, byte in enumerate(_ALPHABET)}
_SHAPE = re.compile(rb"[A-Z]{3}[0-9A-Za-z]{11}")
_MAX_SNOWFLAKE = (1 << 63) - 1
_LOW_BITS = 0x3FFFFF


class BrandedId(NamedTuple):
    """A namespace and a snowflake; `str()` gives the 14 characters back."""

    namespace: str
    snowflake: int

    @property
    def minted_ms(self) -> int:
        """When the id was minted, Unix milliseconds."""
        return (self.snowflake >> 22) + EPOCH_MS

    @property
    def node(self) -> int:
        """The number of the node that minted it, 0 to 1023."""
        return (self.snowflake >> 12) & 0x3FF

    @property
    def sequence(self) -> int:
        """Its number within the millisecond on that node, 0 to 4095."""
        return self.snowflake & 0xFFF

    @property
    def entry_id(self) -> EntryId:
        """The stream entry id an EchoMQ writer derives from it."""
        return EntryId(self.minted_ms, self.snowflake & _LOW_BITS)

    def __str__(self) -> str:
        digits = bytearray()
        rest = self.snowflake
        while rest:
            rest, digit = divmod(rest, 62)
            digits.append(_ALPHABET[digit])
        digits.reverse()
        return self.namespace + digits.decode().rjust(11, "0")


def parse_branded(text: bytes) -> BrandedId | None:
    """Read a branded id; None where `text` is none (wrong shape, or a snowflake over 63 bits)."""
    if len(text) != 14 or not _SHAPE.fullmatch(text):
        return None
    snowflake = 0
    for byte in text[3:]:
        snowflake = snowflake * 62 + _DIGIT[byte]
    return BrandedId(text[:3].decode(), snowflake) if snowflake <= _MAX_SNOWFLAKE else None


def mint(now_ms: int, *, node: int = 0, sequence: int = 0, namespace: str = RECORD_NAMESPACE) -> BrandedId:
    """Make the branded id of a moment (Unix milliseconds), a node (0-1023) and a sequence number (0-4095).

    Raises ValueError for a moment before 2024, a number out of range or a namespace that is not three letters A-Z.
    """
    elapsed = now_ms - EPOCH_MS
    if not 0 <= elapsed < 1 << 41 or not 0 <= node < 1 << 10 or not 0 <= sequence < 1 << 12:
        raise ValueError("a branded id holds a moment from 2024 on, a node below 1024 and a sequence below 4096")
    if not re.fullmatch(r"[A-Z]{3}", namespace):
        raise ValueError("a namespace is three letters A-Z")
    return BrandedId(namespace, elapsed << 22 | node << 12 | sequence)
