"""Starting the terminal app: only where there is a server to look at."""

from __future__ import annotations

import sys

from .aim import Aim, aim_of, connected, later
from .errors import Misused
from .options import Root


def start_app(root: Root) -> int:
    """Run the terminal app on a server. Raises NoServer, with the ways out, where none answers."""
    aim = aim_of(root)
    later(_reach, aim)()
    require_terminal()
    from echomq_console.terminal.run import run_app

    return run_app(url=aim.url, job_ms=aim.thresholds.job_ms, handler=aim.handler, read_only=aim.read_only)


def require_terminal() -> None:
    """Raise Misused where there is no terminal to draw on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misused("the app needs a terminal: run it in one, or use a command (see echomq-console --help)")


async def _reach(aim: Aim) -> int:
    async with connected(aim):
        return 0
