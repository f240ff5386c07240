"""Starting a demo from a program: the world runs as a child, and is gone when the program is."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from echomq_console.model.finding import Thresholds
from echomq_console.server.errors import one_line

from .scenario import DemoError, Scenario, find_scenario

__all__ = ["Demo", "DemoError"]

_START_SECONDS = 20.0
_END_SECONDS = 5.0


class Demo:
    """A running demo: `with Demo.start() as demo: ...`. Its world ends with `close`, or with this process.

    `url` is where its server listens, `pid` the world's process id.
    """

    def __init__(self, scenario: Scenario, world: subprocess.Popen[bytes]) -> None:
        self.scenario = scenario
        self.url = ""
        self.pid = world.pid
        self._world = world
        self._left_behind: tuple[int, Path] | None = None

    @classmethod
    def start(cls, *, port: int | None = None, server: Path | str | None = None, scenario: str = "incident") -> Demo:
        """Start a scenario's world and wait until its incident is seeded. Raises DemoError, in one line.

        `port`: a loopback port (default: a free one). `server`: a server program (default: the bundled Valkey).
        """
        chosen = find_scenario(scenario)
        options = ["--scenario", scenario]
        options += ["--port", str(port)] if port is not None else []
        options += ["--server", str(server)] if server is not None else []
        with contextlib.ExitStack() as started, tempfile.TemporaryFile() as words:
            world = subprocess.Popen(
                [sys.executable, "-P", "-m", "echomq_console.demo.world", *options],
                stdin=subprocess.PIPE,  # held open and never written to: its end tells the world that we are gone
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,  # a ctrl-c in the app's terminal is the app's
            )
            demo = cls(chosen, world)
            started.callback(demo.close)
            ready = _first_line(world, _START_SECONDS)
            if not ready:
                demo.close()
                words.seek(0)
                raise DemoError(_reason(words.read()))
            said = json.loads(ready)
            demo.url = said["url"]
            demo._left_behind = said["server_pid"], Path(said["folder"])
            started.pop_all()
        return demo

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds under which the incident shows within seconds."""
        return self.scenario.thresholds

    @property
    def handler(self) -> str:
        """The services' own handler, as an operator picks it."""
        return self.scenario.handler

    def close(self) -> None:
        """End the world and wait for it; its server and its files are gone then. Closing again does nothing."""
        world = self._world
        for stream in (world.stdin, world.stdout):
            if stream is not None:
                stream.close()
        for end in (world.terminate, world.kill):
            try:
                world.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                end()
        if world.wait() < 0 and self._left_behind is not None:  # killed: it could not clean up after itself
            server_pid, folder = self._left_behind
            with contextlib.suppress(ProcessLookupError):
                os.kill(server_pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
        self._left_behind = None

    def __enter__(self) -> Demo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _first_line(world: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Read the world's one line; empty where it ended, or did not write it in time."""
    assert world.stdout is not None
    descriptor = world.stdout.fileno()
    give_up = time.monotonic() + seconds
    line = b""
    while not line.endswith(b"\n"):
        readable, _, _ = select.select([descriptor], [], [], max(0.0, give_up - time.monotonic()))
        part = os.read(descriptor, 4096) if readable else b""
        if not part:
            return b""
        line += part
    return line


def _reason(words: bytes) -> str:
    lines = words.decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1]) if lines else f"the demo did not start within {_START_SECONDS:.0f} s"
