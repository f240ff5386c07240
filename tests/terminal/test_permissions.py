"""A user who may only read some keys: the app shows what it may, and names what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from echomq_console.model.finding import Thresholds
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import OpenApp, audited, hold, pending


@pytest.fixture
async def reader_url(own_server: EmbeddedServer, own_wire: Wire) -> str:
    """The URL of a user with `+@read -@dangerous ~orders*`."""
    await own_wire.call("ACL", "SETUSER", "ana", "on", ">pass", "+@read", "-@dangerous", "~orders*")
    return own_server.url.replace("redis://", "redis://ana:pass@")


async def test_it_shows_what_it_may_and_names_what_it_may_not(
    own_wire: Wire, reader_url: str, open_app: OpenApp, audit_log: Path
) -> None:
    await hold(own_wire, b"orders:1", b"billing", b"web-3", 4, pairs=(b"data", b"a payload"))
    await hold(own_wire, b"secret:1", b"other")
    async with open_app(reader_url) as stage:
        await stage.until("▲ stuck")
        text = await stage.until("permission denied for")
        assert "orders:1 › billing" in text
        assert "the ACL rule" in text
        assert "pass" not in text.replace("passed", "")

        await stage.press("home", *["down"] * 3)
        await stage.press("home")
        await stage.until("▸ ▲ stuck")
        await stage.press("enter")
        await stage.until("web-3")
        await stage.press("2")
        await stage.until("a payload")
        before = await pending(own_wire, b"orders:1", b"billing")

        await stage.press("X")
        said = await stage.until_toast("not run")
        assert "permission denied" in said
        assert "\n" not in said
        assert await pending(own_wire, b"orders:1", b"billing") == before
        assert "web-3" in stage.text
        assert all(line["event"] != "batch" for line in audited(audit_log))


async def test_a_key_that_may_not_be_read_is_unknown_and_never_well(
    own_wire: Wire, own_server: EmbeddedServer, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders:1", b"billing", b"web-3", 4)
    await own_wire.call("ACL", "SETUSER", "bo", "on", ">pass", "+@read", "-@dangerous", "-xpending", "~*")
    url = own_server.url.replace("redis://", "redis://bo:pass@")
    async with open_app(url, thresholds=Thresholds(job_ms=600_000)) as stage:
        text = await stage.until("orders:1 › billing")
        assert "? unknown" in text
        assert "Nothing is stuck here" not in text
        await stage.until("Not known: permission denied for XPENDING")
        assert "+xpending" in stage.text
        await stage.press("enter")
        await stage.until("? unknown")
        assert "Nothing is stuck here" not in stage.text
        await stage.press("2")
        await stage.until("permission denied for XPENDING")
