"""The way to the terminal, made to survive it: a window that is closed must not freeze what is under way."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from typing import TextIO

    from textual.app import App


class SurvivingDriver(LinuxDriver):
    """Textual's own driver, for which a terminal that is gone is no error.

    Its writer would die of the first write that fails, and then whoever draws waits for it without end.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._file = cast("Any", _Forgiving(cast("TextIO", self._file)))

    def run_input_thread(self) -> None:
        """Read keys; where there is no terminal to read from any more, the app is asked to leave."""
        try:
            super().run_input_thread()
        except OSError:
            self._app.call_later(self._app.action_quit)


class _Forgiving:
    """A file whose writes go nowhere once they fail."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
