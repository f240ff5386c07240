"""From the command to the first paint, and of `--help`: beside a bare Textual app and a bare interpreter.

    python benchmarks/startup.py [ROUNDS]

All are started in turn, in one run, on one machine; medians and ratios are printed. The first paint is the first
frame a program writes to its terminal that holds text of the app itself.
"""

from __future__ import annotations

import json
import os
import platform
import pty
import select
import statistics
import subprocess
import sys
import time
from importlib import metadata

BARE = """
from textual.app import App
from textual.widgets import DataTable
class Bare(App):
    def compose(self):
        yield DataTable()
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("health", "group")
        table.add_row("well", "FIRSTPAINT")
Bare().run()
"""
APP = """
from echomq_console.terminal.run import run_app
run_app(url="redis://127.0.0.1:1", job_ms=5000, handler=None, read_only=False, title="FIRSTPAINT")
"""


def first_paint(code: str, mark: bytes) -> float:
    """Seconds from the start of the process to the first frame with a mark in it."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "36"}
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    seen = b""
    try:
        while mark not in seen:
            if not select.select([master], [], [], 20)[0]:
                raise TimeoutError("no first paint within 20 s")
            seen += os.read(master, 65536)
        return time.perf_counter() - began
    finally:
        child.terminate()
        child.wait()
        os.close(master)


def run_time(*command: str) -> float:
    """Seconds a command takes."""
    began = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - began


def main(rounds: int) -> None:
    """Alternate all sides and print the medians."""
    times: dict[str, list[float]] = {"bare textual": [], "console": [], "bare python": [], "--help": []}
    for _ in range(rounds):
        times["bare textual"].append(first_paint(BARE, b"FIRSTPAINT"))
        times["console"].append(first_paint(APP, b"help"))
        times["bare python"].append(run_time(sys.executable, "-c", "pass"))
        times["--help"].append(run_time(sys.executable, "-m", "echomq_console", "--help"))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(
        json.dumps(
            {
                "python": platform.python_version(),
                "textual": metadata.version("textual"),
                "rounds": rounds,
                "median_ms": {name: round(value * 1000) for name, value in medians.items()},
                "console_over_bare_textual": round(medians["console"] / medians["bare textual"], 2),
                "help_over_bare_python": round(medians["--help"] / medians["bare python"], 2),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
