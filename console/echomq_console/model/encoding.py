"""Bytes in JSON: text where they are UTF-8, else `{"base64": "..."}`, so nothing is lost."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any


def json_bytes(data: bytes) -> str | dict[str, str]:
    """Write bytes for a JSON document, losslessly."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def bytes_of_json(value: Any) -> bytes:
    """Read what `json_bytes` wrote. Raises ValueError for anything else."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and set(value) == {"base64"}:
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError("neither text nor base64")


def iso_utc(unix_ms: int) -> str:
    """Write a moment (Unix milliseconds) as ISO 8601, UTC, with milliseconds."""
    return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
