"""Watching changes nothing: no owner, no count, no position, and no command that writes."""

from __future__ import annotations

import re

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.entry import EntryScreen

from .conftest import OpenApp, hold, pending, settle

LOOKS = {
    "xinfo|stream",
    "xinfo|groups",
    "xinfo|consumers",
    "xpending",
    "xrange",
    "xrevrange",
    "scan",
    "type",
    "time",
    "info",
    "client|list",
    "client|setname",
}
POLLS = 100


async def commands_called(wire: Wire) -> set[str]:
    """What the server says was called since its statistics were reset."""
    said = await wire.call("INFO", "commandstats")
    return set(re.findall(r"cmdstat_([\w|]+):", said.decode()))


async def test_a_hundred_polls_over_every_screen(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 20, pairs=(b"data", b"a payload"))
    await hold(own_wire, b"payments", b"ledger", b"pay-2", 1, deliveries=7)
    await settle(own_wire, b"orders", b"search")
    ghosts = await hold(own_wire, b"trimmed", b"g", b"c", 2)
    await own_wire.call("XDEL", b"trimmed", *map(bytes, ghosts))
    places = ((b"orders", b"billing"), (b"payments", b"ledger"), (b"trimmed", b"g"), (b"orders", b"search"))

    async def state() -> list[object]:
        lists = [await pending(own_wire, *place) for place in places]
        groups = [await own_wire.call("XINFO", "GROUPS", stream) for stream, _ in places]
        return [lists, groups, await own_wire.call("DBSIZE")]

    before = await state()
    await own_wire.call("CONFIG", "RESETSTAT")
    async with open_app(own_server.url, handler="echomq_console.demo.handlers:handle") as stage:
        await stage.until("▲ poison")
        for _ in range(4):
            await stage.press("enter")
            for keys in (("1",), ("2", "down", "end", "home", "space"), ("3",), ("4",), ("2", "enter")):
                await stage.press(*keys)
                await stage.polls(2)
            if isinstance(stage.app.screen, EntryScreen):
                await stage.until("where it is now")
                await stage.press("tab", "r", "escape")
            await stage.press("escape", "question_mark", "escape", "slash", "escape", "s", "down")
            await stage.polls(1)
        await stage.polls(POLLS)
        called = await commands_called(own_wire)
    assert called <= LOOKS | {"config|resetstat"}, called - LOOKS
    assert {"xinfo|groups", "xpending", "xrange"} <= called
    assert await state() == before


async def test_a_plan_that_is_looked_at_and_left_changes_nothing(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 3, deliveries=7)
    before = await pending(own_wire, b"orders", b"billing")
    await own_wire.call("CONFIG", "RESETSTAT")
    async with open_app(own_server.url, handler="echomq_console.demo.handlers:handle") as stage:
        await stage.until("▲ poison")
        for key in ("A", "X"):
            await stage.press(key)
            await stage.until("Cancel")
            await stage.press("escape")
            await stage.polls(1)
        called = await commands_called(own_wire)
    assert called <= LOOKS | {"config|resetstat"}, called - LOOKS
    assert await pending(own_wire, b"orders", b"billing") == before
