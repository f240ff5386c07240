"""Starting and ending: what is imported before the first paint, and a terminal that goes away."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from echomq_console.server.embedded import EmbeddedServer
from echomq_console.server.wire import Wire
from echomq_console.terminal.run import _without_password

from .conftest import WAIT, audited, hold, pending

HEAVY = ("pandas", "numpy", "pytest", "_pytest", "hypothesis", "redis", "hiredis")


@pytest.mark.parametrize("module", ["echomq_console.terminal.run", "echomq_console.terminal.app"])
def test_the_first_paint_waits_for_no_client_library_and_no_test_tool(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"),
        ("rediss://ana:secret@host:6380/2", "rediss://ana@host:6380/2"),
        ("redis://:secret@host", "redis://host"),
        ("redis://host:1?password=secret", "redis://host:1"),
        ("redis://ana:se@cret@host", "redis://ana@host"),
        ("unix://ana:secret@/run/valkey.sock", "unix://ana@/run/valkey.sock"),
        ("unix:///run/valkey.sock", "unix:///run/valkey.sock"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert _without_password(url) == shown


class OnPty:
    """The app in a terminal of its own that can be closed."""

    def __init__(self, url: str, folder: Path, handler: str) -> None:
        chosen = f"url={url!r}, job_ms=300, handler={handler!r}, read_only=False"
        script = (
            "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
            f"from echomq_console.terminal.run import run_app\nraise SystemExit(run_app({chosen}))"
        )
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "SEEN": str(folder / "seen")},
            start_new_session=True,
        )
        os.close(slave)
        self.said = b""

    def until(self, holds: Callable[[], bool], what: str) -> None:
        give_up = time.monotonic() + WAIT
        while not holds():
            if time.monotonic() > give_up:
                pytest.fail(f"never {what}: {self.said[-2000:].decode('utf-8', 'replace')}")
            self.read()

    def read(self) -> None:
        readable, _, _ = select.select([self.master], [], [], 0.05)
        if readable:
            with contextlib.suppress(OSError):
                self.said += os.read(self.master, 65536)

    def keys(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def hang_up(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()


HANDLERS = """
import os, time
from echomq_console.engine import Ok

def slow(entry):
    with open(os.environ["SEEN"], "a") as seen:
        print(os.getpid(), file=seen, flush=True)
    time.sleep(1.0)
    return Ok()
"""


@pytest.fixture
def terminal(own_server: EmbeddedServer, tmp_path: Path) -> Iterator[OnPty]:
    (tmp_path / "service_handlers.py").write_text(HANDLERS)
    app = OnPty(own_server.url, tmp_path, "service_handlers:slow")
    yield app
    app.close()


@pytest.mark.parametrize("how", ["hang-up", "terminate", "q"])
async def test_the_app_ends_with_its_terminal(terminal: OnPty, own_wire: Wire, how: str) -> None:
    terminal.until(lambda: b"no streams here yet" in terminal.said, "connected")
    _end(terminal, how)
    assert _wait(terminal) == 0


@pytest.mark.parametrize("how", ["hang-up", "terminate", "kill"])
async def test_no_process_is_left_behind_when_it_goes_in_mid_action(
    terminal: OnPty, own_wire: Wire, tmp_path: Path, audit_log: Path, how: str
) -> None:
    await hold(own_wire, b"orders", b"billing", b"web-3", 40)
    terminal.until(lambda: b"stuck" in terminal.said, "stuck")
    terminal.keys(b"A")
    terminal.until(lambda: b"Cancel" in terminal.said, "the dialog")
    terminal.keys(b"\x1b[C\r")
    seen = tmp_path / "seen"
    terminal.until(lambda: bool(_runs(seen)), "running")
    _end(terminal, how)
    _wait(terminal)
    for pid in set(_runs(seen)):
        _until_gone(pid)
    began = len(_runs(seen))
    assert began < 40
    outcome = audited(audit_log)[-1]
    assert (outcome["event"], outcome["done"]) == ("outcome", began)
    assert len(await pending(own_wire, b"orders", b"billing")) == 40 - began


def _end(terminal: OnPty, how: str) -> None:
    if how == "hang-up":
        terminal.hang_up()
    elif how == "q":
        terminal.keys(b"q")
    else:
        terminal.process.send_signal(signal.SIGTERM if how == "terminate" else signal.SIGKILL)


def _wait(terminal: OnPty) -> int:
    give_up = time.monotonic() + WAIT
    while (code := terminal.process.poll()) is None:
        if time.monotonic() > give_up:
            pytest.fail("the app did not end")
        if terminal.master >= 0:
            terminal.read()
        else:
            time.sleep(0.05)
    return code


def _runs(seen: Path) -> list[int]:
    return [int(pid) for pid in seen.read_text().split()] if seen.exists() else []


def _until_gone(pid: int) -> None:
    give_up = time.monotonic() + WAIT
    while time.monotonic() < give_up:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} was left behind")
