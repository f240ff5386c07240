"""Keys: what is listed works, writes are capital letters, and nothing that is typed into a field acts."""

from __future__ import annotations

import inspect
import re

import pytest

from echomq_console.model.finding import Thresholds
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.app import ConsoleApp
from echomq_console.terminal.base import ConsoleScreen
from echomq_console.terminal.entry import EntryScreen
from echomq_console.terminal.group import GroupScreen
from echomq_console.terminal.groups import GroupsScreen
from echomq_console.terminal.help import HelpScreen
from echomq_console.terminal.keys import ENTRY, EVERYWHERE, FILTERING, GROUP, GROUPS, TABLE, Key
from echomq_widgets.plan_dialog import PlanDialog
from echomq_widgets.table import WindowedTable

from .conftest import OpenApp, hold, pending

SCREENS: tuple[type[ConsoleScreen], ...] = (GroupsScreen, GroupScreen, EntryScreen)
ALL = (*GROUPS, *GROUP, *ENTRY, *TABLE, *EVERYWHERE, *FILTERING)
OPENS: dict[type[ConsoleScreen], tuple[str, ...]] = {
    GroupsScreen: (),
    GroupScreen: ("enter",),
    EntryScreen: ("enter", "2", "enter"),
}


def bound_keys(kind: type[object]) -> set[str]:
    """The keys that a class binds, itself or by inheritance."""
    found = (binding for parent in kind.__mro__ for binding in vars(parent).get("BINDINGS", ()))
    return {key.strip() for each in found for key in (each if isinstance(each, tuple) else (each.key,))[0].split(",")}


@pytest.mark.parametrize("screen", SCREENS)
def test_every_action_exists_where_it_is_listed(screen: type[ConsoleScreen]) -> None:
    for key in screen.KEYS:
        name = key.action.partition("(")[0]
        if not name:
            assert key.key in bound_keys(WindowedTable), f"{key.label} is listed, and no table handles it"
            continue
        owner: type[object] = ConsoleApp if name.startswith("app.") else screen
        method = getattr(owner, f"action_{name.removeprefix('app.')}", None)
        assert method is not None, f"{key.label} asks for {key.action}, and {owner.__name__} has no such action"
        arguments = re.findall(r"'(\w+)'", key.action)
        inspect.signature(method).bind(None, *arguments)


def test_writes_are_capital_letters_that_move_no_cursor() -> None:
    writes = [key for key in ALL if key.writes]
    assert {key.key for key in writes} == {"A", "D", "X"}
    assert all(re.fullmatch("[A-Z]", key.key) for key in writes)
    assert not {key.key for key in writes} & bound_keys(WindowedTable)
    assert not [key for key in ALL if key.action.startswith("act_") and not key.writes]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("screen", SCREENS)
async def test_the_help_lists_every_key(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp, screen: type[ConsoleScreen], size: tuple[int, int]
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 4)
    async with open_app(own_server.url, size) as stage:
        await stage.until("▲ stuck")
        for key in OPENS[screen]:
            await stage.press(key)
            await stage.polls(2)
        await stage.until_screen(screen)
        for way_out in ("escape", "q", "question_mark", "enter") if screen is GroupsScreen else ("escape",):
            await stage.press("question_mark")
            await stage.until_screen(HelpScreen)
            shown = stage.text
            await stage.press("end")
            shown += await stage.until("Every write is planned")
            for listed in screen.KEYS:
                assert re.search(rf"[│|]\s+{re.escape(listed.label)} +{re.escape(listed.sentence)}", shown), listed
            assert "Two failures, two recoveries" in shown
            await stage.press(way_out)
            await stage.until_screen(screen)


async def test_every_listed_key_may_be_pressed_anywhere(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 4)
    before = await pending(own_wire, b"orders", b"billing")
    async with open_app(own_server.url) as stage:
        await stage.until("▲ stuck")
        ways: list[tuple[type[ConsoleScreen], str]] = [(GroupsScreen, ""), (EntryScreen, "")]
        ways += [(GroupScreen, tab) for tab in "1234"]
        for kind, tab in ways:
            for _ in range(3):
                await stage.press("escape")
            await stage.until_screen(GroupsScreen)
            for key in (*OPENS[kind], *tab):
                await stage.press(key)
                await stage.polls(1)
            for key in [each.key for each in kind.KEYS if each.action != "app.quit"]:
                await stage.press(key)
                if not isinstance(stage.app.screen, ConsoleScreen):
                    await stage.press("escape")
        assert stage.app.is_running
    assert [row[:2] for row in await pending(own_wire, b"orders", b"billing")] == [row[:2] for row in before]


async def test_what_is_typed_into_the_filter_does_not_act(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"ADXqrs?", b"g", b"c", 2, deliveries=7)
    async with open_app(own_server.url) as stage:
        await stage.until("▲ poison")
        assert "A autoclaim" in stage.lines[-1]
        await stage.press("slash", "A", "D", "X", "q", "r", "s", "?")
        await stage.polls(2)
        assert isinstance(stage.app.screen, GroupsScreen)
        assert "ADXqrs?" in stage.line("filter ")
        assert "worst first" in stage.text
        assert not stage.toasts
        assert "A autoclaim" not in stage.lines[-1]
        assert "keep the filter" in stage.lines[-1]
        await stage.press("enter")
        await stage.until(lambda _: "A autoclaim" in stage.lines[-1])
        await stage.press("X")
        await stage.until_screen(PlanDialog)


async def test_enter_in_a_fresh_dialog_runs_nothing(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"g", b"c", 2, deliveries=7)
    before = await pending(own_wire, b"orders")
    async with open_app(own_server.url, handler="echomq_console.demo.handlers:handle") as stage:
        await stage.until("▲ poison")
        for key in ("X", "A"):
            await stage.press(key)
            await stage.until_screen(PlanDialog)
            await stage.press("enter", "enter", "space")
            await stage.press("escape")
            await stage.until_screen(GroupsScreen)
        assert await pending(own_wire, b"orders") == before
        assert not stage.toasts


async def test_without_a_target_a_key_says_what_to_do(
    own_server: EmbeddedServer, own_wire: Wire, open_app: OpenApp
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 2)
    async with open_app(own_server.url, thresholds=Thresholds(job_ms=600_000)) as stage:
        await stage.press("A")
        await stage.until_toast("no group under the cursor")
        await stage.until("● well")
        await stage.press("D")
        await stage.until_toast("no undrained consumer here")
        await stage.press("X")
        await stage.until_toast("no poison entry here")
        await stage.press("enter")
        await stage.until_screen(GroupScreen)
        await stage.press("4", "X")
        await stage.until_toast("which entries?")
        await stage.press("D")
        await stage.until_toast("whose entries?")


def test_no_two_keys_of_a_screen_are_the_same() -> None:
    for kind in SCREENS:
        keys = [key.key for key in kind.KEYS]
        assert len(keys) == len(set(keys)), kind.__name__
        labels: list[Key] = [key for key in kind.KEYS if not key.label or not key.sentence]
        assert not labels
