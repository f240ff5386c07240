"""The embedded server: ours alone, on loopback, and gone without a trace."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from echomq_console.server import embedded
from echomq_console.server.address import Address
from echomq_console.server.embedded import EmbeddedServer, EmbeddedServerError, bundled_binary
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for shared in {"valkey", "any_server"} & set(request.fixturenames):
        request.getfixturevalue(shared)  # its folder outlives this test and belongs elsewhere
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[], list[Path]]:
    """The private folders that exist."""
    return lambda: list(tmp_path.glob("echomq-*"))


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def ask(server: EmbeddedServer, *command: str) -> object:
    wire = Wire(Address.parse(server.url))
    try:
        return await wire.call(*command)
    finally:
        await wire.close()


async def test_a_server_of_each_kind_comes_and_goes_without_a_trace(
    any_server: EmbeddedServer, folders: Callable[[], list[Path]]
) -> None:
    with EmbeddedServer(any_server._binary) as server:
        assert folders() == [server.folder]
        assert server.folder.stat().st_mode & 0o077 == 0, "nobody else looks in"
        assert await ask(server, "CONFIG", "GET", "bind") == [b"bind", b"127.0.0.1"]
        assert await ask(server, "CONFIG", "GET", "save") == [b"save", b""]
        pid = server.pid
        assert exists(pid)
        assert os.getsid(pid) != os.getsid(0), "a ctrl-c in our terminal does not reach it"
    assert not exists(pid)
    assert folders() == []
    assert server.pid == 0
    server.close()


async def test_an_error_inside_ends_it_too(folders: Callable[[], list[Path]]) -> None:
    server = EmbeddedServer()
    with pytest.raises(ZeroDivisionError), server:
        assert 1 / 0
    assert server.pid == 0
    assert folders() == []


async def test_a_kept_folder_outlives_its_servers(tmp_path: Path, folders: Callable[[], list[Path]]) -> None:
    keep = tmp_path / "kept"
    keep.mkdir()
    with EmbeddedServer(keep=keep, options=("--appendonly", "yes")) as server:
        await ask(server, "SET", "k", "v")
    with EmbeddedServer(keep=keep, options=("--appendonly", "yes")) as server:
        assert await ask(server, "GET", "k") == b"v"
        server.kill()
    assert keep.is_dir()
    assert folders() == []


async def test_options_reach_the_server() -> None:
    with EmbeddedServer(options=("--maxmemory", "123456789")) as server:
        assert await ask(server, "CONFIG", "GET", "maxmemory") == [b"maxmemory", b"123456789"]


async def test_a_wanted_port_is_used(free_port: int) -> None:
    with EmbeddedServer(port=free_port) as server:
        assert server.url == f"redis://127.0.0.1:{free_port}"
        assert await ask(server, "PING") == b"PONG"


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_taken_port_is_one_line_and_never_somebody_elses_server(
    valkey: EmbeddedServer, folders: Callable[[], list[Path]]
) -> None:
    with pytest.raises(EmbeddedServerError) as caught:
        EmbeddedServer(port=valkey.port).start()
    assert str(caught.value) == f"port {valkey.port} cannot be used (Address already in use): choose another one"
    assert folders() == []


def test_a_port_that_is_taken_at_the_last_moment_is_noticed_too(
    any_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, folders: Callable[[], list[Path]]
) -> None:
    """A stranger that answers on the port is not our server: ours has not said that it listens."""
    monkeypatch.setattr(embedded, "_unusable", lambda port: "")
    with pytest.raises(EmbeddedServerError, match=r"ended at once: .*ort") as caught:
        EmbeddedServer(any_server._binary, port=any_server.port).start()
    assert "\n" not in str(caught.value)
    assert folders() == []


async def test_a_free_port_that_gets_taken_is_exchanged(
    any_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    ports = iter([any_server.port, any_server.port, free_port])
    monkeypatch.setattr(embedded, "_free_port", lambda: next(ports))
    with EmbeddedServer(any_server._binary) as server:
        assert server.port == free_port
        info = await ask(server, "INFO", "server")
        assert isinstance(info, bytes)
        assert f"process_id:{server.pid}\r\n".encode() in info


@pytest.mark.parametrize(
    ("binary", "words"),
    [
        ("/nowhere/valkey-server", "cannot start /nowhere/valkey-server: No such file or directory"),
        ("/", "cannot start /: Permission denied"),
        ("/bin/true", "true ended at once: no word in its log"),
        ("/bin/ls", "ls ended at once: "),
    ],
)
def test_a_wrong_binary_is_one_line(binary: str, words: str, folders: Callable[[], list[Path]]) -> None:
    with pytest.raises(EmbeddedServerError) as caught:
        EmbeddedServer(Path(binary)).start()
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ServerError)
    assert folders() == []


def test_a_wrong_option_is_one_line(any_server: EmbeddedServer, folders: Callable[[], list[Path]]) -> None:
    with pytest.raises(EmbeddedServerError, match="ended at once: ") as caught:
        EmbeddedServer(any_server._binary, options=("--nonsense", "1")).start()
    assert "\n" not in str(caught.value)
    assert folders() == []


def test_a_system_without_a_bundled_server_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bundled_binary().name == "valkey-server"
    monkeypatch.setattr(importlib.metadata, "files", lambda name: None)
    with pytest.raises(EmbeddedServerError, match="give its path with --server"):
        bundled_binary()


def test_a_server_that_does_not_listen_to_reason_is_ended_all_the_same(
    tmp_path: Path, folders: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen, it does not act on SIGTERM; five seconds of patience are cut to a moment."""
    with EmbeddedServer() as server:
        process = server._process
        assert process is not None
        os.kill(server.pid, signal.SIGSTOP)  # frozen, it cannot act on a SIGTERM
        wait = process.wait
        monkeypatch.setattr(process, "wait", lambda timeout=None: wait(timeout and 0.05))
        pid = server.pid
    assert not exists(pid)
    assert folders() == []


def test_starting_is_quick_enough_for_a_demo() -> None:
    began = time.monotonic()
    with EmbeddedServer():
        assert time.monotonic() - began < 5


def test_a_server_does_not_inherit_our_output() -> None:
    """Or a pipe of ours would stay open for as long as it lives."""
    reading, writing = os.pipe()
    with EmbeddedServer() as server:
        held = {os.readlink(path) for path in Path(f"/proc/{server.pid}/fd").iterdir() if path.is_symlink()}
        assert os.readlink(f"/proc/self/fd/{writing}") not in held
        assert os.readlink(f"/proc/{server.pid}/fd/1") == str(server.folder / "server.log")
    os.close(reading)
    os.close(writing)
