"""The first ten seconds: is anything stuck, where, since when, and what should I do?"""

from __future__ import annotations

import re
import socket

import pytest

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import OpenApp, Stage, add, hold, reading, settle


async def seed(wire: Wire) -> None:
    await settle(wire, b"orders", b"search", b"idx-1", 3)
    await hold(wire, b"orders", b"billing", b"web-3", 4)
    await hold(wire, b"payments", b"ledger", b"pay-2", 1, deliveries=7)
    await hold(wire, b"mails", b"mailer", b"mail-1", 3)


def rows(stage: Stage) -> list[str]:
    """The groups on the screen, from top to bottom."""
    return [line for line in stage.lines if re.search(r"\w › \w", line) and re.search(r"[▲◆●○?] \w", line)]


async def test_worst_first_with_the_finding_the_recovery_and_the_key(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await seed(own_wire)
    async with reading(own_wire, b"mails", b"mailer", b"mail-1"), open_app(own_server.url) as stage:
        text = await stage.until(lambda text: text.count("▲ stuck") == 2 and "▲ poison" in text)
        assert "● well" in rows(stage)[-1]
        assert "orders › search" in rows(stage)[-1]
        assert len(rows(stage)) == 4
        assert "T 300ms" in stage.lines[0]
        assert own_server.url in stage.lines[0]
        assert "▲ 3 stuck" in text
        assert "● 1 well" in text

        for key, said in {
            (b"orders", b"billing"): ("gone:", "web-3 holds 4 entries and has not been seen for", "A  autoclaim…"),
            (b"mails", b"mailer"): ("undrained:", "mail-1 reads", "D  drain…"),
            (b"payments", b"ledger"): ("poison:", "delivered", "X  dead-letter…"),
            (b"orders", b"search"): ("orders › search", "Nothing is stuck here.", "search"),
        }.items():
            await stage.press("end")
            stage.table().move_cursor_to(key)
            for words in said:
                await stage.until(words)


async def test_the_folded_finding_keeps_its_key_in_sight(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"s", b"g", b"a-consumer-with-a-name-so-long-that-its-finding-does-not-fit-a-small-screen", 4)
    for n in range(12):  # a list that leaves no room for the finding in full
        await settle(own_wire, b"t%02d" % n)
    async with open_app(own_server.url, (80, 24)) as stage:
        await stage.until(lambda _: "▲ a-consumer" in stage.lines[-2] and "A autoclaim…" in stage.lines[-2])


async def test_every_state_has_a_sign_and_a_word(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    await seed(own_wire)
    gone = await hold(own_wire, b"trimmed", b"g", b"c", 2)
    await own_wire.call("XDEL", b"trimmed", *map(bytes, gone))
    await own_wire.call("XGROUP", "CREATE", b"trimmed", b"idle", "$")
    async with open_app(own_server.url) as stage:
        await stage.until(lambda text: "▲ poison" in text and "● well" in text and "◆ ghosts" in text)
        for row in rows(stage):
            assert re.match(r"[▸ ] [▲◆●○?] (stuck|poison|stalled|ghosts|silent|look|note|well|unknown) ", row), row
        await stage.press("enter")
        await stage.until(lambda text: "✕ gone" in text or "○ quiet" in text)


async def test_before_the_server_answers_the_frame_is_there(own_server: EmbeddedServer, open_app: OpenApp) -> None:
    async with open_app(own_server.url) as stage:
        text = stage.text
        assert "connecting…" in text
        assert "nothing here" not in text
        assert own_server.url in stage.lines[0]
        assert "T 300ms" in stage.lines[0]
        await stage.until("no streams here yet")


async def test_an_unreachable_server_is_said_and_tried_again(open_app: OpenApp) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{nobody.getsockname()[1]}"
        async with open_app(url) as stage:
            text = await stage.until("cannot be reached")
            assert "trying again" in text
            assert "no picture of this server yet" in text
            with EmbeddedServer(port=_closed(nobody)):
                await stage.until("no streams here yet")
                assert "cannot be reached" not in stage.text


def _closed(probe: socket.socket) -> int:
    port: int = probe.getsockname()[1]
    probe.close()
    return port


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_an_opened_group_is_drawn_at_once(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, size: tuple[int, int]
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 4, pairs=(b"data", b"a payload"))
    async with open_app(own_server.url, size, period=600) as stage:
        await stage.until("orders › billing")
        await stage.press("enter")
        await stage.until("web-3", seconds=10)
        assert own_server.url in stage.lines[0]
        await stage.press("2")
        await stage.until("a payload", seconds=10)
        await stage.press("enter")
        await stage.until("where it is now", seconds=10)
        assert "pending with web-3" in stage.text
        assert own_server.url in stage.lines[0]


async def test_streams_without_groups_are_no_trouble(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await add(own_wire, b"log", 3)
    async with open_app(own_server.url) as stage:
        await stage.until("nobody reads these streams in groups")
        assert "0 groups · 1 stream" in stage.text


async def test_a_look_now_does_not_wait_for_the_next_poll(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    async with open_app(own_server.url, period=600) as stage:
        await stage.until("no streams here yet")
        await settle(own_wire, b"orders", b"search")
        await stage.press("r")
        await stage.until("orders › search", seconds=10)
