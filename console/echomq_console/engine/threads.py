"""Threads for plain functions: made when needed, kept for the next, never in the way of the program's end.

The standard executor's threads are joined at exit, so one handler that never ends would keep the program alive, and a
timed-out one would take a place from the others. These are daemon threads, and there is always a free one.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

_Task = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Threads:
    """A pool of daemon threads for one event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def run(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Run a function in a thread. The future ends when the thread's work ends, whoever still waits for it."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        with self._lock:
            spare = self._idle > 0
            if spare:
                self._idle -= 1
        if not spare:
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        self._tasks.put((lambda: context.run(function), loop, done))
        return done

    def close(self) -> None:
        """Let the idle threads end."""
        with self._lock:
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._tasks.put(None)

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            function, loop, done = task
            result: Any = None
            error: BaseException | None = None
            try:
                result = function()
            except BaseException as raised:  # noqa: BLE001  # foreign code in our thread: its exception is the result
                error = raised
            with self._lock:
                self._idle += 1
            try:
                loop.call_soon_threadsafe(_finish, done, result, error)
            except RuntimeError:  # the loop was closed meanwhile: nobody waits any more
                return


def _finish(done: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    elif isinstance(error, StopIteration):  # a future cannot hold one
        done.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        done.set_exception(error)
