"""`demo` without the app: the incident for the commands."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable

import pytest

from .conftest import Command, Ran, Started

ORDERS = "emq:{orders}:stream:events"


def test_the_scenarios(command: Command) -> None:
    said = command("demo", "--list")
    assert said.status == 0
    assert said.out.startswith("incident  ")


def test_the_incident_lives_until_the_demo_is_told_to_end(start: Callable[..., Started], command: Command) -> None:
    started = start("demo", "--no-app")
    assert started.process.stdout is not None
    url = started.process.stdout.readline().decode().strip()
    assert url.startswith("redis://127.0.0.1:")
    here = ["--url", url, "--job-time", "1ms"]
    document = command(*here, "groups", "--json").document
    assert {group["group"] for group in document["groups"]} == {"billing", "mailer", "search", "ledger"}
    handler = "echomq_console.demo.handlers:handle"
    said = command(*here, "autoclaim", ORDERS, "billing", "--handler", handler, "--dry-run")
    assert said.status == 0
    started.process.send_signal(signal.SIGTERM)
    welcome = started.process.stdout.read().decode()
    assert "--job-time 5s" in welcome
    assert f"export ECHOMQ_URL={url}" in welcome
    assert started.end() == Ran(0, "", "")
    assert "cannot be reached" in command("--url", url, "groups").complaint()


def test_a_demo_whose_server_died_says_so(start: Callable[..., Started]) -> None:
    started = start("demo", "--no-app")
    assert started.process.stdout is not None
    started.process.stdout.readline()
    for line in started.process.stdout:
        if b"Ctrl-c" in line:
            break
    with open(f"/proc/{started.process.pid}/task/{started.process.pid}/children") as children:
        world = int(children.read().split()[0])
    os.kill(world, signal.SIGKILL)
    assert "start the demo again" in started.end().complaint()


def test_a_port_that_is_taken(command: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert str(port) in command("demo", "--no-app", "--port", str(port)).complaint()


def test_a_server_program_that_is_none(command: Command) -> None:
    assert "cannot start" in command("demo", "--no-app", "--server", "/no/such/program").complaint()


@pytest.mark.parametrize("arguments", [["demo"]])
def test_the_app_needs_a_terminal(command: Command, arguments: list[str]) -> None:
    assert "needs a terminal" in command(*arguments).complaint()
