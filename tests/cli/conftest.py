"""What the command line's tests share: streams with something pending on them, and ways to run a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from echomq_console.cli.program import run
from echomq_console.server.embedded import EmbeddedServer

TEN_MINUTES = 600_000


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Its one JSON document."""
        said = json.loads(self.out)
        assert isinstance(said, dict)
        return said

    @property
    def events(self) -> list[dict[str, Any]]:
        """Its JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def complaint(self) -> str:
        """The one line a command that went wrong says on standard error."""
        assert self.status == 3, self
        assert "Traceback" not in self.err
        assert self.err.startswith("echomq-console: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        return self.err.removeprefix("echomq-console: ").rstrip("\n")


Command = Callable[..., Ran]


@pytest.fixture
def audit_path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "audit.jsonl"


@pytest.fixture
def command(
    valkey: EmbeddedServer,
    audit_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Command:
    """Run a command in this process: quick, for everything that needs no process of its own."""
    monkeypatch.setenv("ECHOMQ_URL", valkey.url)
    monkeypatch.setenv("ECHOMQ_AUDIT", str(audit_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ECHOMQ_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str | bytes) -> Ran:
        capfd.readouterr()
        status = run([os.fsdecode(argument) for argument in arguments])
        said = capfd.readouterr()
        return Ran(status, said.out, said.err)

    return ran


@dataclass(frozen=True, slots=True)
class Started:
    """A command in a process of its own."""

    process: subprocess.Popen[bytes]

    def end(self, given: bytes | None = None) -> Ran:
        """Wait for its end, after giving it the rest of its standard input."""
        out, err = self.process.communicate(given, timeout=60)
        return Ran(self.process.returncode, out.decode(), err.decode())


@pytest.fixture
def start(valkey: EmbeddedServer, audit_path: Path, tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Start a command as an operator's shell does; what still runs at the end of the test is killed."""
    started: list[Started] = []

    def begin(*arguments: str | bytes, **kinds: Any) -> Started:
        process = subprocess.Popen(
            [sys.executable, "-m", "echomq_console", *arguments],
            stdin=kinds.pop("stdin", subprocess.PIPE),
            stdout=kinds.pop("stdout", subprocess.PIPE),
            stderr=kinds.pop("stderr", subprocess.PIPE),
            cwd=tmp_path,
            env={**_environment(valkey, audit_path, tmp_path), **kinds.pop("env", {})},
            start_new_session=True,
            **kinds,
        )
        started.append(Started(process))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.process.communicate()


@pytest.fixture
def spawn(start: Callable[..., Started]) -> Command:
    """Run a command in a process of its own, to its end."""

    def ran(*arguments: str | bytes, **kinds: Any) -> Ran:
        return start(*arguments, **kinds).end()

    return ran


def _environment(valkey: EmbeddedServer, audit_path: Path, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("ECHOMQ_DEBUG", "PYTHONUNBUFFERED")}
    return {
        **kept,
        "ECHOMQ_URL": valkey.url,
        "ECHOMQ_AUDIT": str(audit_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }


@pytest.fixture
def server(valkey: EmbeddedServer) -> Iterator[Any]:
    """A client for preparing the server and for looking at what a command did."""
    with Redis.from_url(valkey.url) as client:
        yield client


@dataclass(frozen=True, slots=True)
class Stuck:
    """A group `g` of a stream, whose consumer `web-1` holds entries that have been idle for ten minutes."""

    server: Any
    stream: bytes
    group: bytes = b"g"
    consumer: bytes = b"web-1"

    def add(
        self, count: int, *, idle_ms: int = TEN_MINUTES, deliveries: int = 1, fields: Mapping[str, str] | None = None
    ) -> list[str]:
        """Append entries and give them to the consumer, idle for so long and delivered so often."""
        for number in range(count):
            self.server.execute_command("XADD", self.stream, "*", "number", str(number), *_flat(fields or {}))
        reply = self.server.xreadgroup(self.group, self.consumer, {self.stream: ">"}, count=count)
        ids = [entry_id for entry_id, _ in reply[0][1]]
        self.age(ids, idle_ms, deliveries)
        return [entry_id.decode() for entry_id in ids]

    def age(self, ids: list[bytes], idle_ms: int, deliveries: int) -> None:
        where = (self.stream, self.group, self.consumer)
        self.server.xclaim(*where, 0, ids, idle=idle_ms, retrycount=deliveries, justid=True)

    def rows(self) -> list[tuple[str, bytes, int]]:
        """Every pending row: id, owner, delivery count."""
        found = self.server.xpending_range(self.stream, self.group, "-", "+", 1000)
        return [(row["message_id"].decode(), row["consumer"], row["times_delivered"]) for row in found]

    def idle_ms(self) -> list[int]:
        """How long each row has been idle."""
        return [
            row["time_since_delivered"] for row in self.server.xpending_range(self.stream, self.group, "-", "+", 1000)
        ]

    @property
    def names(self) -> tuple[bytes, bytes]:
        return self.stream, self.group


def _flat(fields: Mapping[str, str]) -> list[str]:
    return [part for pair in fields.items() for part in pair]


@pytest.fixture
def stuck(server: Any, stream: bytes) -> Stuck:
    server.xgroup_create(stream, "g", "0", mkstream=True)
    return Stuck(server, stream)


@pytest.fixture
def handlers(tmp_path: Path) -> Callable[[str], str]:
    """Write the service's own code where the command is started; returns the handler's name."""

    def write(source: str) -> str:
        name = f"service_{abs(hash(source))}"
        (tmp_path / f"{name}.py").write_text(_PREAMBLE + source)
        return f"{name}:handle"

    return write


_PREAMBLE = """
import asyncio, os, signal, sys, threading
from echomq_console.engine import Error, Ok

"""

OK = """
async def handle(entry):
    return Ok()
"""


@pytest.fixture
def ok(handlers: Callable[[str], str]) -> str:
    """A handler that says ok to everything."""
    return handlers(OK)
