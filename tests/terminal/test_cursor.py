"""The cursor stays on its group, whatever the list behind it does."""

from __future__ import annotations

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import OpenApp, hold, settle


async def test_it_stays_on_its_group_when_rows_move_and_new_ones_come(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    for n in range(30):
        await settle(own_wire, b"s%02d" % n)
    async with open_app(own_server.url, (120, 24)) as stage:
        await stage.until("s00 › g")
        await stage.press(*["down"] * 10)
        key = (b"s10", b"g")
        table = stage.table()
        assert table.cursor_key == key
        line = table.cursor_position - table.scroll_offset.y
        for n in range(10):
            for m in range(5):
                await hold(own_wire, b"new%02d" % (5 * n + m))
            await stage.polls(1)
            assert table.cursor_key == key
        await stage.until("▲ 50 stuck")
        await stage.polls(1)
        assert table.cursor_key == key
        assert table.cursor_position == 60
        assert table.cursor_position - table.scroll_offset.y == line
        await stage.until(lambda _: "▸ ● well" in stage.line("s10 › g"))


async def test_until_the_operator_takes_it_the_cursor_is_on_the_worst(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await settle(own_wire, b"a")
    async with open_app(own_server.url) as stage:
        await stage.until("▸ ● well")
        await hold(own_wire, b"z")
        await stage.until("▸ ▲ stuck")
        assert stage.table().cursor_key == (b"z", b"g")
        await stage.until("\n z › g ")  # the panel below explains it

        await stage.press("down")
        assert stage.table().cursor_key == (b"a", b"g")
        await hold(own_wire, b"y")
        await stage.until("▲ 2 stuck")
        await stage.polls(2)
        assert stage.table().cursor_key == (b"a", b"g")


async def test_a_click_takes_it_too(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    await settle(own_wire, b"a")
    await settle(own_wire, b"b")
    async with open_app(own_server.url) as stage:
        await stage.until("b › g")
        await stage.pilot.click("#groups", offset=(12, 2))
        assert stage.table().cursor_key == (b"b", b"g")
        await stage.polls(3)
        assert stage.table().cursor_key == (b"b", b"g")


async def test_order_and_filter_outlive_a_refresh(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await settle(own_wire, b"orders", b"search")
    await hold(own_wire, b"orders", b"billing", count=2)
    await hold(own_wire, b"mails", b"mailer", count=5)
    async with open_app(own_server.url) as stage:
        await stage.until("mails › mailer")
        assert "worst first" in stage.text
        await stage.press("s", "s")
        await stage.until("by stream › group ▲")
        await stage.polls(3)
        names = [row.key for row in stage.table().view.rows]
        assert names == [(b"mails", b"mailer"), (b"orders", b"billing"), (b"orders", b"search")]

        await stage.press("slash", *"ORD", "enter")
        await stage.until(lambda text: "mails" not in text)
        await stage.polls(3)
        assert "mails" not in stage.text
        assert "orders › search" in stage.text
        await stage.press("escape")
        await stage.until("mails › mailer")

        await stage.press("slash", *"nowhere")
        await stage.until("no group matches the filter")
