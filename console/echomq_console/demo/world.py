"""The demo's world, a process of its own: `python -m echomq_console.demo.world [--port N] [--server PATH]`.

It owns the embedded server and the living clients. When the incident is seeded it writes one line of JSON to standard
output; it lives until its standard input ends (the parent is gone, however it went) or a signal asks it to stop, and
leaves nothing behind.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

from .clients import Living
from .scenario import Scenario, find_scenario


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the world; 1 and one line on standard error where it cannot be."""
    parser = argparse.ArgumentParser(prog="python -m echomq_console.demo.world", description=__doc__)
    parser.add_argument("--port", type=int, help="a loopback port (default: a free one)")
    parser.add_argument("--server", help="the server program (default: the bundled Valkey)")
    parser.add_argument("--scenario", default="incident", help="which incident")
    options = parser.parse_args(arguments)
    binary = Path(shutil.which(options.server) or options.server).absolute() if options.server else None
    try:
        scenario = find_scenario(options.scenario)
        asyncio.run(_exist(scenario, EmbeddedServer(binary, port=options.port)))
    except ServerError as error:
        os.write(2, f"{error}\n".encode())
        return 1
    return 0


async def _exist(scenario: Scenario, server: EmbeddedServer) -> None:
    """Own the server from before its first to after its last moment: a signal sets `stop` and interrupts nothing."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    threading.Thread(target=_watch_standard_input, args=(loop, stop), daemon=True).start()
    try:
        await asyncio.to_thread(server.start)
        if not stop.is_set():
            await _show(scenario, server, stop)
    finally:
        await asyncio.to_thread(server.close)


async def _show(scenario: Scenario, server: EmbeddedServer, stop: asyncio.Event) -> None:
    address = Address.parse(server.url)
    wire = Wire(address)
    try:
        await scenario.seed(wire, lambda name: Wire(address, name=name))
    finally:
        await wire.close()
    async with Living(address, scenario) as living:
        ready = {"url": server.url, "pid": os.getpid(), "server_pid": server.pid, "folder": str(server.folder)}
        try:
            os.write(1, json.dumps(ready).encode() + b"\n")
        except BrokenPipeError:  # nobody waits for it any more
            return
        await living.until(stop)


def _watch_standard_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(stop.set)


if __name__ == "__main__":
    sys.exit(main())
