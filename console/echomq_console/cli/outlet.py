"""Lines out of a program that must not wait: whoever reads them slowly, or not at all, holds nothing up."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

_MOST_WAITING = 16 * 1024 * 1024
"""Bytes that wait for a slow reader; what comes on top is left out, and their number is said."""

_PATIENCE = 2.0
"""Seconds the end waits for a slow reader."""


class Outlet:
    """Writes lines to a descriptor, each at once and whole while the reader keeps up.

    A line that would have to wait is written by a thread, in order. `missed` makes the line that says how many were
    left out. `on_broken` is called, once and from any thread, when nothing can be written any more.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        missed: Callable[[int], bytes],
        on_broken: Callable[[OSError], None] = lambda _: None,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self.broken: OSError | None = None
        self._descriptor = descriptor
        self._missed_line = missed
        self._on_broken = on_broken
        self._most = most_waiting
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lock = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._missed = 0
        self._closing = False
        self._thread: threading.Thread | None = None

    def write(self, line: bytes) -> None:
        """Write a line, or let it wait; never blocks."""
        with self._lock:
            if self.broken is not None or self._closing:
                return
            if not self._bytes and not self._missed and len(line) <= select.PIPE_BUF and self._poll.poll(0):
                self._put(line)  # a pipe that takes anything takes this much without waiting
            elif self._bytes + len(line) > self._most:
                self._missed += 1
            else:
                self._queue(self._with_missed(line))

    def close(self, seconds: float = _PATIENCE) -> None:
        """Wait until all is written, but not long: a reader that stands still is left behind."""
        give_up = time.monotonic() + seconds
        with self._lock:
            if self._missed and self.broken is None:
                self._queue(self._with_missed(b""))
            self._closing = True
            self._lock.notify_all()
            while self._bytes and self.broken is None and (left := give_up - time.monotonic()) > 0:
                self._lock.wait(left)

    def _with_missed(self, line: bytes) -> bytes:
        count, self._missed = self._missed, 0
        return self._missed_line(count) + line if count else line

    def _queue(self, line: bytes) -> None:
        self._waiting.append(line)
        self._bytes += len(line)
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_on, name="outlet", daemon=True)
            self._thread.start()
        self._lock.notify_all()

    def _write_on(self) -> None:
        while (line := self._next()) is not None:
            self._put(line)
            with self._lock:
                self._bytes -= len(line)
                self._lock.notify_all()

    def _next(self) -> bytes | None:
        with self._lock:
            while not self._waiting and not self._closing and self.broken is None:
                self._lock.wait()
            return self._waiting.popleft() if self._waiting and self.broken is None else None

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            if self.broken is None:
                self.broken = error
                self._on_broken(error)


@contextlib.contextmanager
def own_output() -> Iterator[int]:
    """Take standard output for ourselves: what else is printed meanwhile, by whatever means, goes to standard error.

    Gives the descriptor to write to.
    """
    sys.stdout.flush()
    descriptor = sys.stdout.fileno()
    own = os.dup(descriptor)
    os.dup2(sys.stderr.fileno(), descriptor)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield own
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os.dup2(own, descriptor)
        # Not closed: a thread may still wait to write there, and must not find another file under the number.
