"""A real terminal for the tests: tmux on a server of its own, driven by keys, read as a person reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

WAIT = 60.0
"""Seconds a screen may take to say what is waited for; the machine is shared."""


class Terminal:
    """One terminal window with a program in it."""

    def __init__(self, socket: str, name: str) -> None:
        self._socket = socket
        self._name = name

    def start(self, command: str, *, width: int, height: int, environment: dict[str, str]) -> None:
        """Start a shell command in a new window."""
        told = [part for name, value in environment.items() for part in ("-e", f"{name}={value}")]
        size = ("-x", str(width), "-y", str(height))
        self._tmux("new-session", "-d", "-s", self._name, *size, *told, command)
        self._tmux("set-option", "-t", self._name, "remain-on-exit", "on")

    def keys(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._tmux("send-keys", "-t", self._name, *keys)

    def screen(self) -> str:
        """What the screen shows, as text."""
        return self._tmux("capture-pane", "-p", "-t", self._name)

    def until(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until the screen shows something, and return it; fails with the screen as it was."""
        give_up = time.monotonic() + WAIT
        while time.monotonic() < give_up:
            screen = self.screen()
            if holds(screen):
                return screen
            time.sleep(0.1)
        pytest.fail(f"the screen never showed {what}:\n{self.screen()}")

    def has_ended(self) -> bool:
        """Whether the program is over."""
        return self._tmux("display-message", "-p", "-t", self._name, "#{pane_dead}").strip() == "1"

    def _tmux(self, *arguments: str) -> str:
        # The readline library leaves the size of another terminal in the environment of whoever loads it.
        environment = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
        told = subprocess.run(
            ["tmux", "-L", self._socket, "-f", os.devnull, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        return told.stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of its own, ended with the test."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed (Debian: apt-get install tmux)")
    socket = f"echomq-test-{os.getpid()}-{tmp_path.name[-20:]}"
    yield Terminal(socket, "console")
    subprocess.run(["tmux", "-L", socket, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def program() -> str:
    """The installed command."""
    return str(Path(sys.executable).with_name("echomq-console"))
