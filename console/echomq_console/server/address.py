"""Addresses: where a server is. A password is taken along and never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio.connection import ConnectionPool, parse_url
from redis.exceptions import RedisError

from .errors import InvalidAddress

DEFAULT_URL = "redis://127.0.0.1:6379"
_SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss", "unix": "unix"}
_DATABASE = re.compile(r"/?|/[0-9]+")
_HINT = "in a password write @ as %40, / as %2F, # as %23, ? as %3F"
_EXAMPLE = "use redis://HOST:PORT, rediss://HOST:PORT, valkey://HOST:PORT or unix:///PATH"


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL. `shown` is what screens and logs may say: it holds no password; `url` may hold one."""

    shown: str
    options: dict[str, Any] = field(repr=False)
    url: str = field(repr=False)

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
        except ValueError:  # its text may quote a piece of a password that holds a # or a /
            raise InvalidAddress(f"not a server's URL: {_without_password(url)!r} ({_EXAMPLE}; {_HINT})") from None
        if known == "unix" and not options.get("path"):
            raise InvalidAddress(f"a unix:// URL needs a path, like unix:///run/valkey.sock ({_EXAMPLE})")
        if known != "unix":
            options.setdefault("host", "127.0.0.1")
            options.setdefault("port", 6379)
        if "password" not in options and (password := os.environ.get("ECHOMQ_PASSWORD")):
            options["password"] = password
        address = cls(shown, options, url)
        address._require_known_options()
        return address

    def _require_known_options(self) -> None:
        """Refuse an option (`?name=value`) that no connection takes, before it fails at the first use."""
        try:
            self.pool().make_connection()  # type: ignore[no-untyped-call]
        except (TypeError, ValueError, RedisError):
            raise InvalidAddress(
                f"an option after the ? in the URL of {self.shown} is unknown, or its value is wrong"
            ) from None

    def pool(self) -> ConnectionPool:
        """Make a connection pool: the way to a server in the form the client library uses."""
        options = dict(self.options)
        options.setdefault("socket_connect_timeout", 5.0)
        return ConnectionPool(**options)


def _shown(scheme: str, rest: str) -> str:
    parts = urlsplit(f"{scheme}:{rest}")
    path_ok = "@" in parts.netloc or not parts.netloc if scheme == "unix" else _DATABASE.fullmatch(parts.path)
    if parts.fragment or "@" in parts.query or not path_ok:
        raise ValueError("a password was cut in two, or the database is no number")
    if scheme == "unix":
        return f"unix://{unquote(parts.path)}"
    host = parts.hostname or "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    user = f"{parts.username}@" if parts.username else ""
    path = parts.path if parts.path not in ("", "/") else ""
    return f"{scheme}://{user}{host}:{parts.port or 6379}{path}"


def _without_password(url: str) -> str:
    plain, _, rest = url.partition("?")
    if "@" in rest:  # a password with a ? or an option with an @: where it begins cannot be told
        return "…"
    _, at, tail = plain.rpartition("@")
    return ("…@" + tail if at else plain)[:200]
