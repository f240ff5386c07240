"""Make the screenshots: start the demo, drive the app by keys, save what it shows as SVG without outside references.

python screenshots/make.py [FOLDER]
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from echomq_console.demo.launch import Demo
from echomq_console.terminal.app import ConsoleApp, Start
from echomq_widgets.plan_dialog import PlanDialog
from echomq_widgets.progress_dialog import ProgressDialog

WAIT = 30.0
FONTS = '"DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace'


def harmless_svg(svg: str) -> str:
    """Take out what asks outside hosts for fonts, and name fonts that machines have."""
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family:\s*[^;]*Fira Code[^;]*;", f"font-family: {FONTS};", svg)
    return svg.replace("<text ", '<text xml:space="preserve" ')


def text_of(app: App[int]) -> str:
    """What the screen says, as plain text."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.crop(0, width).text for strip in lines[:height])


async def until(pilot: Pilot[int], holds: Callable[[str], bool]) -> None:
    """Wait until the screen says something. Raises TimeoutError."""
    async with asyncio.timeout(WAIT):
        while not holds(text_of(pilot.app)):
            await pilot.pause(0.1)


async def tour(app: ConsoleApp, folder: Path, size: tuple[int, int], suffix: str) -> None:
    """Walk from the alarm to the recovery and save each screen."""

    def save(name: str) -> None:
        path = folder / f"{name}{suffix}.svg"
        path.write_text(harmless_svg(app.export_screenshot(title="echomq-console")), "utf-8")
        print(f"{path.name}: {size[0]}x{size[1]}")

    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda text: "stuck" in text and "poison" in text and text.count("▲") >= 4)
        save("groups")
        await pilot.press("enter")
        await until(pilot, lambda text: "✕ gone" in text)
        save("group")
        await pilot.press("2")
        await until(pilot, lambda text: "event" in text)
        save("pending")
        await pilot.press("enter")
        await until(pilot, lambda text: "where it is now" in text or "branded id" in text)
        save("entry")
        await pilot.press("escape")
        await pilot.press("A")
        await until(pilot, lambda _: isinstance(app.screen, PlanDialog))
        save("plan")
        await pilot.press("right", "enter")
        await until(pilot, lambda text: isinstance(app.screen, ProgressDialog) and "audit" in text)
        save("outcome")
        await pilot.press("enter", "escape")


async def main(folder: Path) -> None:
    """Make each size from a demo of its own, so that the incident is the same in all."""
    for size, suffix in (((120, 36), ""), ((80, 24), "-80x24")):
        with Demo.start() as demo, tempfile.TemporaryDirectory() as state:
            import os

            os.environ["ECHOMQ_AUDIT"] = str(Path(state) / "audit.jsonl")
            start = Start(demo.url, "redis://127.0.0.1:6400", demo.thresholds, demo.handler, title="echomq demo")
            await tour(ConsoleApp(start), folder, size, suffix)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
