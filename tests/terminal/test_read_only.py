"""Read-only: shown loudly, and no key opens what would write."""

from __future__ import annotations

from pathlib import Path

import pytest

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.base import ConsoleScreen

from .conftest import OpenApp, audited, hold, pending


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_writes_are_refused_before_anything_opens(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path, size: tuple[int, int]
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 3, deliveries=7)
    before = await pending(own_wire, b"orders", b"billing")
    async with open_app(own_server.url, size, read_only=True, handler="echomq_console.demo.handlers:handle") as stage:
        await stage.until("▲ poison")
        for opening in ((), ("enter",), ("2",)):
            await stage.press(*opening)
            await stage.polls(2)
            assert "READ-ONLY" in stage.lines[0]
            assert "autoclaim…" not in stage.text
            assert "dead-letter" not in stage.lines[-1]
            for key in ("A", "D", "X"):
                stage.app.clear_notifications()
                await stage.press(key)
                assert "start without --read-only" in await stage.until_toast("read-only")
                assert isinstance(stage.app.screen, ConsoleScreen)
        await stage.press("question_mark")
        await stage.until("(read-only: off)")
    assert await pending(own_wire, b"orders", b"billing") == before
    assert audited(audit_log) == []
