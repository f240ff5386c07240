"""Stopping a run cleanly: by ctrl-c, by a signal, by the end of standard input; at once where asked twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 2.0


class EndedAtOnce(BaseException):
    """A run was told twice to stop and was cut off; `signal_number` says by what."""

    def __init__(self, signal_number: int) -> None:
        super().__init__("ended at once")
        self.signal_number = signal_number


def run_until_told(
    main: Callable[[asyncio.Event], Coroutine[Any, Any, T]], *, watched_input: int | None = None
) -> tuple[T, int | None]:
    """Run `main` with an event that is set when it should stop; returns what it returned, and the signal, if one came.

    The first signal sets the event; `main` then ends in its own time. The second one cancels it and gives it two
    seconds: then the process ends, whatever still blocks it; the third ends it there and then. `watched_input`: a
    descriptor whose end sets the event too. Raises EndedAtOnce where `main` was cancelled.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        stopping = _Stopping(loop)
        task = loop.create_task(main(stopping.event))
        with stopping.by_signals(task):
            if watched_input is not None:
                stopping.by_end_of(watched_input)
            try:
                return loop.run_until_complete(task), stopping.signal_number
            except asyncio.CancelledError:
                raise EndedAtOnce(stopping.signal_number or signal.SIGINT) from None


class _Stopping:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.event = asyncio.Event()
        self.signal_number: int | None = None
        self._loop = loop
        self._signals = 0
        self._cancel: Callable[[], object] = lambda: None
        self._at_last: threading.Timer | None = None

    @contextlib.contextmanager
    def by_signals(self, task: asyncio.Task[Any]) -> Iterator[None]:
        """Listen to signals, without the loop: it may be blocked by a handler that does not yield."""
        self._cancel = task.cancel
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if self._at_last is not None:
                self._at_last.cancel()

    def by_end_of(self, descriptor: int) -> None:
        """Watch a descriptor, in a thread that is no hindrance at the end.

        Nobody else shall read it: a handler that reads its standard input finds it empty.
        """
        own = os.dup(descriptor)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
        threading.Thread(target=self._watch, args=(own,), name="stop-on-eof", daemon=True).start()

    def _watch(self, descriptor: int) -> None:
        with contextlib.suppress(OSError):
            while os.read(descriptor, 4096):
                pass
        self._set()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals == 1:
            self.signal_number = number
            self._set()
        elif self._signals == 2:
            self._at_last = threading.Timer(_PATIENCE, os._exit, (128 + number,))
            self._at_last.daemon = True
            self._at_last.start()
            self._loop.call_soon_threadsafe(self._cancel)
        else:
            os._exit(128 + number)

    def _set(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self.event.set)
