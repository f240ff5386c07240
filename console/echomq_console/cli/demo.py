"""`demo`: an embedded Valkey with a live incident on it, and the app on top."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from .aim import later
from .errors import CannotTell, Misused
from .options import Root, Work

if TYPE_CHECKING:
    from echomq_console.demo.launch import Demo

DEFAULT_SCENARIO = "incident"


def demo(
    ctx: typer.Context,
    *,
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="NAME", help="Which incident; --list names them.")
    ] = DEFAULT_SCENARIO,
    list_scenarios: Annotated[bool, typer.Option("--list", help="Name the scenarios and end.")] = False,
    no_app: Annotated[
        bool, typer.Option("--no-app", help="Print the URL and keep the incident alive until ctrl-c, for the commands.")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=1, max=65535, help="A loopback port. Default: a free one.")
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="PATH", help="A server program instead of the bundled Valkey.")
    ] = None,
) -> Work:
    """Show a real incident on a real server of its own: living services, and consumers that got stuck.

    Nothing of it outlives the command. Its thresholds are short (T is 5 seconds), so that the incident shows at once.
    """
    if list_scenarios:
        return _list
    return partial(_show, ctx.obj, scenario, port, server, with_app=not no_app)


def _list() -> int:
    from echomq_console.demo.scenario import SCENARIOS, find_scenario

    for name in SCENARIOS:
        sys.stdout.write(f"{name}  {find_scenario(name).summary}\n")
    return 0


def _show(root: Root, scenario: str, port: int | None, server: str | None, *, with_app: bool) -> int:
    from echomq_console.demo.launch import Demo

    if root.url is not None:
        raise Misused("the demo has a server of its own: leave --url out, or the word demo")
    if with_app:
        from .app import require_terminal

        require_terminal()
    with Demo.start(port=port, server=server, scenario=scenario) as running:
        return _run_app(root, running) if with_app else later(_keep_alive, running)()


def _run_app(root: Root, demo: Demo) -> int:
    from echomq_console.terminal.run import run_app

    return run_app(
        url=demo.url,
        job_ms=demo.thresholds.job_ms,
        handler=root.handler or demo.handler,
        read_only=root.read_only,
        stalled_ms=demo.thresholds.stalled_ms,
        title=f"demo: {demo.scenario.name}",
    )


async def _keep_alive(demo: Demo) -> int:
    """Keep the incident until a signal comes. Raises CannotTell where its world ended by itself."""
    import asyncio

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        loop.add_signal_handler(number, ended.set)
    sys.stdout.write(_welcome(demo))
    sys.stdout.flush()
    while not _has_ended(demo.pid):
        await ended.wait()
        if not _has_ended(demo.pid):
            return 0
    raise CannotTell("the demo's server ended: start the demo again")


def _has_ended(pid: int) -> bool:
    """Whether a child process of ours has ended, without taking its status from whoever waits for it."""
    if not hasattr(os, "waitid"):
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _welcome(demo: Demo) -> str:
    """The URL, alone on the first line, then what to try."""
    from echomq_console.demo.incident import ORDERS, PAYMENTS
    from echomq_console.model.text import exact_duration, shell_word

    orders, payments = shell_word(ORDERS), shell_word(PAYMENTS)
    job_time = f"--job-time {exact_duration(demo.thresholds.job_ms)}"
    handler = f"--handler {demo.handler}"
    commands = (
        f"groups {job_time}",
        f"diagnose {job_time}",
        f"autoclaim {orders} billing {job_time} {handler}",
        f"drain {orders} mailer mail-1 {job_time} {handler}",
        f"pending {payments} ledger",
    )
    return "\n".join(
        (
            demo.url,
            "",
            f"T, the longest a job may take, is {exact_duration(demo.thresholds.job_ms)} here. In another terminal:",
            "",
            f"  export ECHOMQ_URL={demo.url}",
            *(f"  echomq-console {command}" for command in commands),
            "",
            "Ctrl-c ends the demo and leaves nothing behind.\n",
        )
    )
