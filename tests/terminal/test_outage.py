"""The server dies, and comes back empty: the last picture stays, its age is loud, and nothing is called well."""

from __future__ import annotations

import re

import pytest

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import OpenApp, hold, settle


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_the_picture_stays_and_what_is_gone_is_named(
    own_server: EmbeddedServer,
    own_wire: Wire,
    open_app: OpenApp,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("echomq_console.present.header.STALE_MS", 500)
    await hold(own_wire, b"orders", b"billing", b"web-3", 4)
    await settle(own_wire, b"orders", b"search")
    async with open_app(own_server.url, size) as stage:
        await stage.until("▲ stuck")
        port = own_server.port
        own_server.kill()

        text = await stage.until(lambda text: bool(re.search(r"▲ picture \d+s old", text)) and "1s old" in text)
        assert "trying again" in text
        assert "✕" in stage.lines[1]
        assert re.search(r"this picture is \d+s old", stage.lines[1])
        assert "orders › billing" in text
        assert "▲ stuck" in text
        await stage.press("down", "up", "question_mark")
        await stage.until("Keys: Groups")
        await stage.press("escape", "enter")
        await stage.until("web-3")
        await stage.press("2")
        await stage.until("✕")
        await stage.press("escape")

        with EmbeddedServer(port=port):
            text = await stage.until(lambda text: "vanished" in text and "trying again" not in text)
            assert "everything that was here is gone" in text
            assert "orders › billing" in text or "orders › search" in text
            assert "2 gone from this server" in text
            assert "● " not in text
            assert "no streams here yet" not in text
            assert not re.search(r"▲ picture", stage.lines[0])


async def test_an_open_group_that_vanished_is_not_called_well(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 4)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter")
        await stage.until("✕ gone")
        await own_wire.call("DEL", b"orders")
        await stage.until("this group is not on the server any more")
        for tab in ("1", "2", "3", "4"):
            await stage.press(tab)
            await stage.polls(2)
            text = await stage.until(
                "This group is not on the server any more" if tab in "14" else "no stream 'orders'"
            )
            assert "●" not in text
            assert "✕ gone " not in text
        await stage.press("A")
        assert "no stream 'orders'" in await stage.until_toast("not run")


async def test_a_server_under_another_name_and_password_is_told_once(
    own_server: EmbeddedServer, open_app: OpenApp
) -> None:
    wire = Wire(Address.parse(own_server.url))
    await wire.call("ACL", "SETUSER", "ana", "on", ">right", "+@all", "~*")
    await wire.close()
    async with open_app(own_server.url.replace("redis://", "redis://ana:wrong@")) as stage:
        text = await stage.until("refused the credentials")
        assert "wrong@" not in text
        assert "trying again" in text
