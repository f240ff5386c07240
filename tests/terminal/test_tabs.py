"""The tabs of a group: the pending list over any size, dead letters, findings, and their empty states."""

from __future__ import annotations

from echomq_console.model.entry_id import EntryId
from echomq_console.model.keys import dead_letter_key
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.entry import EntryScreen
from echomq_console.terminal.group import GroupScreen

from .conftest import OpenApp, hold, settle


async def test_five_thousand_pending_scroll_to_the_end_and_back(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    ids = await hold(own_wire, b"orders", b"g", b"c", 5000, pairs=(b"data", b"a payload"))
    async with open_app(own_server.url, period=0.3) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter", "2")
        await stage.until(lambda text: str(ids[0]) in text and "a payload" in text)
        await stage.press("end")
        await stage.until(lambda _: "a payload" in stage.line(f"▸  {ids[-1]}"))
        await stage.polls(2)
        assert stage.table("pending").cursor_key == ids[-1]
        await stage.press("home", "pagedown")
        await stage.until(lambda _: stage.table("pending").cursor_key in ids[1:60])
        key = stage.table("pending").cursor_key
        assert isinstance(key, EntryId)
        await stage.polls(2)
        assert stage.table("pending").cursor_key == key
        assert f"▸  {key}" in stage.text


async def test_the_cursor_stays_on_its_entry_while_the_list_moves(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    ids = await hold(own_wire, b"orders", b"g", b"c", 40)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter", "2")
        await stage.until(str(ids[0]))
        await stage.press(*["down"] * 12)
        await own_wire.call("XACK", b"orders", b"g", *map(bytes, ids[:10]))
        await hold(own_wire, b"orders", b"g", b"d", 20)
        await stage.until("Pending 50")
        await stage.polls(2)
        assert stage.table("pending").cursor_key == ids[12]
        assert f"▸  {ids[12]}" in stage.text


async def test_only_one_consumers_entries_and_back(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    first = await hold(own_wire, b"orders", b"g", b"web-1", 3)
    second = await hold(own_wire, b"orders", b"g", b"web-2", 5)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter")
        await stage.until("✕ gone")
        stage.table("consumers-table").move_cursor_to(b"web-1")
        await stage.press("enter")
        text = await stage.until(str(first[0]))
        assert "only web-1" in text
        assert str(second[0]) not in text
        assert stage.table("pending").view.total == 3
        await own_wire.call("XACK", b"orders", b"g", *map(bytes, first))
        await stage.until("web-1 holds nothing")
        await stage.press("escape")
        await stage.until(str(second[0]))
        assert "only web-1" not in stage.text
        await stage.press("escape")
        await stage.until("worst first")


async def test_ghosts_are_shown_as_what_they_are(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    ids = await hold(own_wire, b"orders", b"g", b"c", 3)
    await own_wire.call("XDEL", b"orders", bytes(ids[1]))
    async with open_app(own_server.url) as stage:
        await stage.until("ghosts")
        await stage.press("enter", "2")
        await stage.until(lambda _: "gone from the stream (a ghost)" in stage.line(str(ids[1])))
        assert "ghost" not in stage.line(str(ids[0]))
        await stage.press("down", "enter")
        await stage.until_screen(EntryScreen)
        await stage.until("◆ gone from the stream")


async def test_an_open_entry_follows_what_happens_to_it(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    ids = await hold(own_wire, b"orders", b"billing", b"web-3", 2, pairs=(b"data", b'{"total": 5}'))
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        await stage.press("enter", "2")
        await stage.until(str(ids[0]))
        await stage.press("enter")
        await stage.until_screen(EntryScreen)
        await stage.until("pending with web-3")
        assert '"total": 5' in stage.text
        await own_wire.call("XCLAIM", b"orders", b"billing", b"web-9", 0, bytes(ids[0]))
        await stage.until("pending with web-9")
        await own_wire.call("XACK", b"orders", b"billing", bytes(ids[0]))
        await stage.until("acknowledged")
        await own_wire.call("DEL", b"orders")
        await stage.until("not known just now")


async def test_dead_letters_with_where_they_came_from(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    ids = await hold(own_wire, b"orders", b"billing", b"web-3", 1, pairs=(b"data", b"bad"), deliveries=7)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ poison")
        await stage.press("enter", "3")
        await stage.until("no dead letters")
        await stage.press("2")
        await stage.until(str(ids[0]))
        await stage.press("X")
        await stage.until("Cancel")
        await stage.press("right", "enter")
        await stage.until("1 entry moved")
        await stage.press("enter", "3")
        await stage.until("Dead letters 1")
        await stage.until(str(ids[0]))
        await stage.press("enter")
        await stage.until_screen(EntryScreen)
        for part in ("original entry", str(ids[0]), "web-3", "moved by an operator", "bad"):
            assert part in stage.text
        await stage.press("escape")
        await own_wire.call("DEL", dead_letter_key(b"orders"))
        await own_wire.call("SET", dead_letter_key(b"orders"), "no stream")
        await stage.until("holds a string, not a stream")


async def test_empty_states_say_that_it_is_well(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    await settle(own_wire, b"orders", b"search", b"idx-1")
    await own_wire.call("XGROUP", "CREATE", b"orders", b"fresh", "$")
    async with open_app(own_server.url) as stage:
        await stage.until("orders › fresh")
        stage.table().move_cursor_to((b"orders", b"fresh"))
        await stage.press("enter")
        await stage.until("no consumer ever read through this group")
        await stage.press("2")
        await stage.until("nothing is pending")
        await stage.press("3")
        await stage.until("no dead letters")
        await stage.press("4")
        await stage.until("Nothing is stuck here.")
        await stage.press("tab")
        await stage.until("[Consumers]")
        assert isinstance(stage.app.screen, GroupScreen)
