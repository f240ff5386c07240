"""What the widgets' tests share: a stage that shows one widget, and what was said on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import pytest
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

Said = TypeVar("Said", bound=Message)


class StageApp(App[None]):
    """Shows one widget, or a screen over nothing."""

    def __init__(self, shown: Widget | Screen[object]) -> None:
        super().__init__()
        self.shown = shown
        self.answers: list[object] = []

    def compose(self) -> ComposeResult:
        if not isinstance(self.shown, Screen):
            yield self.shown

    def on_mount(self) -> None:
        if isinstance(self.shown, Screen):
            self.push_screen(self.shown, self.answers.append)


class Stage:
    """A running app: press keys, read the screen, hear what the widget said."""

    def __init__(self, app: StageApp, pilot: Pilot[None], messages: list[Message]) -> None:
        self.app = app
        self.pilot = pilot
        self._messages = messages

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(3):
            await self.pilot.pause()

    def heard(self, kind: type[Said]) -> list[Said]:
        """Give every message of a kind once, in order, however often it was passed on."""
        once = {id(message): message for message in self._messages if isinstance(message, kind)}
        return list(once.values())

    @property
    def lines(self) -> list[str]:
        """The text of the whole screen."""
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


OpenStage = Callable[..., AbstractAsyncContextManager[Stage]]


@pytest.fixture
def open_stage() -> OpenStage:
    @asynccontextmanager
    async def opened(shown: Widget | Screen[object], size: tuple[int, int] = (80, 24)) -> AsyncIterator[Stage]:
        messages: list[Message] = []
        app = StageApp(shown)
        async with app.run_test(size=size, message_hook=messages.append) as pilot:
            stage = Stage(app, pilot, messages)
            await stage.settle()
            yield stage

    return opened
