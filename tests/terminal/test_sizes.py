"""Any terminal: small and large, resized at run time, without colour."""

from __future__ import annotations

import pytest
from rich.style import Style

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire

from .conftest import OpenApp, Stage, hold, settle


async def seed(wire: Wire) -> None:
    await hold(wire, b"emq:{orders}:stream:events", b"billing", b"web-3", 4, pairs=(b"data", b'{"total": 5}'))
    await hold(wire, b"payments", b"ledger", b"pay-2", 1, deliveries=7)
    await settle(wire, b"orders", b"search")


async def walk(stage: Stage) -> list[str]:
    """Every screen, as text."""
    await stage.until(lambda text: "▲ stuck" in text and "▲ poison" in text and "● well" in text)
    stage.table().move_cursor_to((b"emq:{orders}:stream:events", b"billing"))
    seen = [stage.text]
    for keys, what in (
        (("question_mark",), "Keys: Groups"),
        (("escape", "enter"), "✕ gone"),
        (("2",), "-0  "),  # the first entry's id
        (("enter",), "pending with web-3"),
        (("escape", "3"), "no dead letters"),
        (("4",), "gone:"),
        (("A",), "Cancel"),
    ):
        await stage.press(*keys)
        seen.append(await stage.until(what))
    await stage.press("escape", "escape")
    await stage.until("3 groups · 3 streams")
    return seen


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50), (40, 12)])
async def test_every_screen_is_usable(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, size: tuple[int, int]
) -> None:
    await seed(own_wire)
    async with open_app(own_server.url, size) as stage:
        for text in await walk(stage):
            lines = text.split("\n")
            if "Keys:" in text or "Cancel" in text:
                continue
            assert lines[-1].startswith(" ? help  q quit"), text
            assert "…" not in lines[-1]
        assert all(len(line) <= size[0] for line in stage.lines)


async def test_where_it_is_wide_the_findings_stand_beside_the_groups(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await seed(own_wire)
    async with open_app(own_server.url, (200, 50)) as stage:
        await stage.until("X  dead-letter…")
        table, findings = stage.table(), stage.app.screen.query_one("#findings")
        assert findings.region.x >= table.region.right
        assert table.region.height > 40
        await stage.pilot.resize_terminal(120, 36)
        await stage.until(lambda _: findings.region.y >= table.region.bottom)
        await stage.pilot.resize_terminal(80, 12)
        await stage.until(lambda _: not findings.display)
        assert "X dead-letter…" in stage.text


async def test_resizing_at_any_time_does_no_harm(own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp) -> None:
    await seed(own_wire)
    sizes = ((80, 24), (200, 50), (20, 5), (1, 1), (120, 36))
    async with open_app(own_server.url) as stage:
        await stage.until(lambda text: "▲ stuck" in text and "▲ poison" in text)
        for keys in (
            (),
            ("slash",),
            ("escape", "question_mark"),
            ("escape", "enter"),
            ("2",),
            ("enter",),
            ("escape", "X"),
        ):
            await stage.press(*keys)
            for width, height in sizes:
                await stage.pilot.resize_terminal(width, height)
                await stage.settle()
        await stage.until("Cancel")
        await stage.press("escape")
        assert stage.lines[-1].startswith(" ? help  q quit")


async def test_without_colour_states_are_words_and_the_cursor_is_seen(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    await seed(own_wire)
    async with open_app(own_server.url, (80, 24)) as stage:
        await walk(stage)
        assert {"▲ stuck", "▲ poison", "● well"} <= {line[2:10].strip() for line in stage.lines}
        assert stage.app.no_color
        strips = stage.app.screen._compositor.render_strips()
        cursor = next(strip for strip in strips if "▸" in strip.text)
        assert any((segment.style or Style()).reverse for segment in cursor)
