"""The demo's world ends with its parent, however that goes, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from echomq_console.demo.handlers import HANDLER
from echomq_console.demo.incident import ORDERS, SCENARIO
from echomq_console.demo.launch import Demo, DemoError
from echomq_console.server.address import Address
from echomq_console.server.commands import pending_summary
from echomq_console.server.embedded import EmbeddedServer, bundled_binary
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

WORLD = [sys.executable, "-P", "-m", "echomq_console.demo.world"]

PARENT = """
import json, sys
from echomq_console.demo.launch import Demo
demo = Demo.start()
print(json.dumps({"pid": demo.pid, "url": demo.url}), flush=True)
sys.stdin.read()
"""


def until(condition: Callable[[], bool], seconds: float = 15) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, f"not so within {seconds} s"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_listening(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


@pytest.fixture
def world() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(WORLD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        yield process
        process.kill() if process.poll() is None else None


def first_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    said: dict[str, Any] = json.loads(process.stdout.readline())
    return said


def end_of_input(world: subprocess.Popen[bytes]) -> None:
    assert world.stdin is not None
    world.stdin.close()


def signalled(number: signal.Signals) -> Callable[[subprocess.Popen[bytes]], None]:
    return lambda world: world.send_signal(number)


@pytest.mark.parametrize(
    "end",
    [end_of_input, signalled(signal.SIGTERM), signalled(signal.SIGINT), signalled(signal.SIGHUP)],
    ids=["end of input", "SIGTERM", "SIGINT", "SIGHUP"],
)
def test_the_world_ends_cleanly(world: subprocess.Popen[bytes], end: Callable[[subprocess.Popen[bytes]], None]) -> None:
    said = first_line(world)
    assert said["pid"] == world.pid
    folder = Path(said["folder"])
    assert folder.is_dir()
    assert is_alive(said["server_pid"])
    assert is_listening(said["url"])
    end(world)
    assert world.wait(15) == 0
    assert not is_alive(said["server_pid"])
    assert not is_listening(said["url"])
    assert not folder.exists()
    assert world.stdout is not None
    assert world.stdout.read() == b"", "one line is all it says"


def test_a_signal_during_the_start_leaves_nothing_behind(tmp_path: Path) -> None:
    """The server comes up late; the signal comes while the world waits for it."""
    slow, started, go = (tmp_path / name for name in ("slow-server", "started", "go"))
    slow.write_text(
        f"""#!/bin/sh
        echo $$ > {started}.new && mv {started}.new {started}
        while [ ! -e {go} ]; do sleep 0.02; done
        exec {bundled_binary()} "$@"
        """
    )
    slow.chmod(0o755)
    with subprocess.Popen(
        [*WORLD, "--server", str(slow)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        until(started.exists)
        assert list(tmp_path.glob("echomq-*"))
        process.send_signal(signal.SIGTERM)
        go.touch()
        assert process.wait(15) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert not is_alive(int(started.read_text()))
    assert not list(tmp_path.glob("echomq-*"))


def test_the_world_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as parent:
        said = first_line(parent)
        assert is_alive(said["pid"])
        assert is_listening(said["url"])
        assert len(list(tmp_path.glob("echomq-*"))) == 1
        parent.kill()
        parent.wait()
    until(lambda: not is_alive(said["pid"]))
    assert not is_listening(said["url"])
    assert not list(tmp_path.glob("echomq-*"))


async def test_a_started_demo_is_seeded_and_lives_until_it_is_closed() -> None:
    with Demo.start() as demo:
        wire = Wire(Address.parse(demo.url))
        summary = await wire.ask(pending_summary(ORDERS, b"billing"))
        await wire.close()
        assert summary.by_consumer[b"web-3"] == 60
        assert demo.thresholds == SCENARIO.thresholds
        assert demo.handler == HANDLER == "echomq_console.demo.handlers:handle"
        assert os.getsid(demo.pid) != os.getsid(0), "a ctrl-c in our terminal does not reach it"
    assert not is_alive(demo.pid)
    assert not is_listening(demo.url)
    demo.close()


def test_closing_cleans_up_after_a_world_that_was_killed() -> None:
    with Demo.start() as demo:
        os.kill(demo.pid, signal.SIGKILL)
        until(lambda: not is_alive(demo.pid))
        assert is_listening(demo.url), "a killed world cannot end its server"
    until(lambda: not is_listening(demo.url))


def test_a_wanted_port_is_used() -> None:
    port = free_port()
    with Demo.start(port=port) as demo:
        assert demo.url == f"redis://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"server": "/nowhere/valkey-server"}, "cannot start /nowhere/valkey-server: No such file or directory"),
        ({"server": "/bin/ls"}, "ls ended at once: "),
        ({"port": 70_000}, "port 70000 cannot be used (ports go up to 65535): choose another one"),
        ({"scenario": "flood"}, "no scenario is called 'flood': choose incident"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DemoError) as caught:
        Demo.start(**options)
    assert isinstance(caught.value, ServerError)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_a_taken_port_is_one_line_and_the_one_who_has_it_is_left_alone(valkey: EmbeddedServer) -> None:
    with pytest.raises(DemoError) as caught:
        Demo.start(port=valkey.port)
    assert str(caught.value) == f"port {valkey.port} cannot be used (Address already in use): choose another one"
    asked = subprocess.run(
        [*WORLD, "--port", str(valkey.port)], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (asked.returncode, asked.stdout) == (1, b"")
    assert asked.stderr.decode() == f"{caught.value}\n"


def test_an_installed_server_is_found_by_its_name_or_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("bin/my-server", "here/other-server"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).symlink_to(bundled_binary())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path / "here")
    for server in ("my-server", "./other-server", Path("other-server")):
        with Demo.start(server=server) as demo:
            assert is_listening(demo.url)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
