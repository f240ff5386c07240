"""Names and payloads that would drive a terminal, or the markup of the app: shown harmlessly, acted on exactly."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from textual.app import App

from echomq_console.model.dead_letter import dead_letter_of
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.text import harmless
from echomq_console.server import commands
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.entry import EntryScreen
from echomq_console.terminal.group import GroupScreen
from echomq_console.terminal.groups import GroupsScreen
from echomq_console.terminal.help import HelpScreen
from echomq_widgets.plan_dialog import PlanDialog
from echomq_widgets.progress_dialog import ProgressDialog

from .conftest import OpenApp, Stage, audited, hold, pending

NAMES = {
    "a closing tag": b"[/x]",
    "an open tag": b"[b +",
    "a bracket": b"a [ b",
    "a lone escape": b"\x1b",
    "OSC 52": b"\x1b]52;c;aGVsbG8=\x07",
    "OSC 0": b"\x1b]0;owned\x07",
    "CSI 2J": b"\x1b[2J",
    "a C1 CSI": "\u009b2J".encode(),
    "a bidi override": "\u202egnp.exe".encode(),
    "a zero-width joiner": "a\u200db".encode(),
    "a line without spaces": b"x" * 100_000,
    "invalid UTF-8": b"\xff\xfe\x80",
    "line ends": b"two\r\nlines\x0b\x00",
    "nothing": b"",
}
UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def require_harmless(app: App[int]) -> None:
    """Fail where anything that is drawn could move the cursor, turn the direction, or not be seen."""
    for strip in app.screen._compositor.render_strips():
        assert not any(segment.control for segment in strip)
        bad = {char for char in strip.text if unicodedata.category(char) in UNSEEN}
        assert not bad, (bad, strip.text)


async def seen(stage: Stage) -> None:
    """Look at what is there now, and after a refresh."""
    require_harmless(stage.app)
    await stage.polls(1)
    require_harmless(stage.app)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
async def test_every_screen_is_harmless_and_the_action_reaches_exactly_that_key(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, audit_log: Path, name: bytes
) -> None:
    long = b"y" * 1_000_000
    ids = await hold(own_wire, name, name, name, 3, pairs=(name, name, b"id", name, b"long", long), deliveries=7)
    single = await hold(own_wire, name, name, name, 1, pairs=(name, name))
    bystander = b"[/x]" if name != b"[/x]" else b"[/y]"
    await hold(own_wire, bystander, name, name, 1, deliveries=1)
    untouched = await pending(own_wire, bystander, name)
    shown = harmless(name, 4)

    async with open_app(own_server.url, (120, 36)) as stage:
        await stage.until("▲ poison")
        await seen(stage)
        await stage.press("question_mark")
        await stage.until_screen(HelpScreen)
        await seen(stage)
        await stage.press("escape", "slash", "x", "escape")
        stage.table().move_cursor_to((name, name))
        await stage.press("X")
        await stage.until_screen(PlanDialog)
        await seen(stage)
        assert shown.rstrip("…") in stage.text
        await stage.press("escape")

        await stage.press("enter")
        await stage.until_screen(GroupScreen)
        await stage.until("✕ gone")
        await seen(stage)
        await stage.press("4")
        await stage.until("poison:")
        await seen(stage)
        await stage.press("3")
        await stage.until("no dead letters")
        await seen(stage)
        await stage.press("2")
        await stage.until(str(ids[1]))
        await seen(stage)
        await stage.press("down", "enter")
        await stage.until_screen(EntryScreen)
        await stage.until("pending with")
        await seen(stage)
        await stage.press("escape")

        await stage.press("X")
        await stage.until_screen(PlanDialog)
        await stage.press("right", "enter")
        await stage.until_screen(ProgressDialog)
        await stage.until("1 entry moved to the dead letters")
        await seen(stage)
        await stage.press("enter")

        moved = await own_wire.ask(commands.entries_between(dead_letter_key(name), start=b"-", end=b"+", count=10))
        assert len(moved) == 1
        letter = dead_letter_of(moved[0])
        assert letter is not None
        assert letter.original == ((name, name), (b"id", name), (b"long", long))
        assert (letter.provenance.stream, letter.provenance.group) == (name, name)
        assert letter.provenance.entry_id == ids[1]
        assert [row[0] for row in await pending(own_wire, name, name)] == [
            bytes(ids[0]),
            bytes(ids[2]),
            bytes(single[0]),
        ]
        assert await pending(own_wire, bystander, name) == untouched
        assert audited(audit_log)[0]["event"] == "intent"

        # A dead letter may give any reason.
        pairs = [(key, name if key == b"dl:reason" else value) for key, value in moved[0].pairs]
        await own_wire.call("XADD", dead_letter_key(name), "*", *(part for pair in pairs for part in pair))
        await stage.press("3")
        await stage.until(lambda text: text.count(str(ids[1])) == 2)
        await stage.press("end")
        await seen(stage)
        await stage.press("enter")
        await stage.until_screen(EntryScreen)
        await stage.until("original entry")
        await seen(stage)
        await stage.press("tab", "escape", "escape")
        await stage.until_screen(GroupsScreen)
        await seen(stage)


async def test_an_error_that_holds_markup_is_said_as_it_is(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    name = b"[/x] [bold\x1b[2J"
    await hold(own_wire, name, name, name, 1, deliveries=7)
    async with open_app(own_server.url) as stage:
        await stage.until("▸ ▲ poison")
        await stage.press("enter")
        await stage.until_screen(GroupScreen)
        await stage.press("2")
        await stage.until("-0 ")
        await own_wire.call("SET", name, "no stream any more")
        await stage.press("X")
        await stage.until_toast("holds a string, not a stream")
        await stage.until("not a stream")
        require_harmless(stage.app)
        await own_wire.call("DEL", name)
        await stage.press("A")
        await stage.until("no stream '[/x]")
        require_harmless(stage.app)
