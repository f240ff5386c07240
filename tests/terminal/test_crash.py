"""An error nobody foresaw: the terminal comes back, and the operator reads one line, not a traceback."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

CRASHING = """
import sys
from echomq_console.cli.boundary import guarded
from echomq_console.terminal.groups import GroupsScreen
from echomq_console.terminal.run import run_app

def fail(*_):
    secret = "hunter2"
    raise ZeroDivisionError("out of \\x1b[31mluck")

GroupsScreen.show_picture = fail
sys.exit(guarded(lambda: run_app(url="redis://127.0.0.1:1", job_ms=5000, handler=None, read_only=False)))
"""


def test_a_crash_is_one_line_and_status_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")
    master, slave = pty.openpty()
    app = subprocess.Popen(
        [sys.executable, "-c", CRASHING], stdin=slave, stdout=slave, stderr=subprocess.PIPE, text=True
    )
    os.close(slave)
    shown = b""
    try:
        while select.select([master], [], [], 30)[0]:
            shown += os.read(master, 65536)
    except OSError:  # the other end is closed: the app is over
        pass
    os.close(master)
    _, complaint = app.communicate(timeout=30)
    line = complaint.rpartition("echomq-console: ")[2]
    assert app.returncode == 3
    assert "unexpected ZeroDivisionError" in line
    assert "last-error.txt" in line
    for said in (shown.decode("utf-8", "replace"), complaint):
        assert "Traceback" not in said
        assert "hunter2" not in said
    assert "ZeroDivisionError" in (tmp_path / "echomq-console" / "last-error.txt").read_text()
