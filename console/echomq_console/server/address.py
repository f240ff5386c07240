"""Addresses: where a server is. A password is taken along and never shown."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio.connection import ConnectionPool, parse_url

from .errors import InvalidAddress

DEFAULT_URL = "redis://127.0.0.1:6379"
_SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss", "unix": "unix"}
_EXAMPLE = "use redis://HOST:PORT, rediss://HOST:PORT, valkey://HOST:PORT or unix:///PATH"


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL. `shown` is what screens and logs may say: it holds no password."""

    shown: str
    options: dict[str, Any] = field(repr=False)

    @classmethod
    def parse(cls, url: str) -> Address:
        """Understand a URL: redis://, rediss://, valkey://, valkeys:// or unix://.

        A password may be given by the environment variable ECHOMQ_PASSWORD instead. Raises InvalidAddress.
        """
        scheme, colon, rest = url.partition(":")
        known = _SCHEMES.get(scheme.lower())
        if not colon or known is None or not rest.startswith("//"):
            raise InvalidAddress(f"not a server's URL: {_without_password(url)!r} ({_EXAMPLE})")
        try:
            options: dict[str, Any] = dict(parse_url(f"{known}:{rest}"))
            shown = _shown(scheme.lower(), rest)
        except ValueError as error:
            raise InvalidAddress(f"not a server's URL: {_without_password(url)!r} ({error}; {_EXAMPLE})") from None
        if known == "unix" and not options.get("path"):
            raise InvalidAddress(f"a unix:// URL needs a path, like unix:///run/valkey.sock ({_EXAMPLE})")
        if known != "unix":
            options.setdefault("host", "127.0.0.1")
            options.setdefault("port", 6379)
        if "password" not in options and (password := os.environ.get("ECHOMQ_PASSWORD")):
            options["password"] = password
        return cls(shown, options)

    def pool(self) -> ConnectionPool:
        """Make a connection pool: the way to a server in the form the client library uses."""
        options = dict(self.options)
        options.setdefault("socket_connect_timeout", 5.0)
        return ConnectionPool(**options)


def _shown(scheme: str, rest: str) -> str:
    parts = urlsplit(f"{scheme}:{rest}")
    if scheme == "unix":
        return f"unix://{unquote(parts.path)}"
    host = parts.hostname or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    user = f"{parts.username}@" if parts.username else ""
    path = parts.path if parts.path not in ("", "/") else ""
    return f"{scheme}://{user}{host}:{parts.port or 6379}{path}"


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"…@{tail}"[:200] if at and head else url[:200]
