"""The one boundary of the command line: whatever goes wrong ends here, as one line and an exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

WELL = 0
WARNINGS = 1
CRITICAL = 2
TROUBLE = 3
"""1 and 2 always mean a diagnosis; anything that went wrong is 3."""

INTERRUPTED = 130
BROKEN_PIPE = 141
"""As a shell counts them: 128 and the number of the signal."""

_LIMIT = 600


def guarded(command: Callable[[], Any]) -> int:
    """Run a command and return its exit status; what it raises becomes one line on standard error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # as long as the program
    _write_whatever_it_holds(sys.stdout)
    try:
        status = command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:  # how rich ends a program whose output nobody reads
        _let_go(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:  # nobody reads any more, or (EIO) the terminal is gone
        if not isinstance(error, BrokenPipeError) and error.errno != errno.EIO:
            return _unexpected(error)
        _let_go(sys.stdout)
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  # the boundary: nobody above could do better than say it in one line
        return _told(error)
    return status if isinstance(status, int) else WELL


def complain(text: str) -> None:
    """Write one line to standard error."""
    with contextlib.suppress(OSError):  # nobody listens there any more
        sys.stderr.write(f"echomq-console: {one_line(text)}\n")
        sys.stderr.flush()


def one_line(text: str, limit: int = _LIMIT) -> str:
    """Fold a text, whatever it quotes, into one printable line."""
    folded = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def _told(error: Exception) -> int:
    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if isinstance(error, typer.TyperException):
        complain(_usage(error))
    elif _is_ours(error):
        complain(str(error))
    else:
        return _unexpected(error)
    return TROUBLE


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "echomq-console")
    text = error.format_message().strip().rstrip(".")
    return f"{text[:1].lower()}{text[1:]} (see {path} --help)"


def _is_ours(error: Exception) -> bool:
    """Whether an error was made to be shown: the rooms' own errors all say what to do."""
    from echomq_console.actions.session import ActionRefused
    from echomq_console.audit.log import AuditError
    from echomq_console.engine.errors import EngineError
    from echomq_console.server.errors import ServerError

    from .errors import CommandLineError

    return isinstance(error, CommandLineError | ServerError | EngineError | ActionRefused | AuditError)


def _unexpected(error: Exception) -> int:
    """Say it in one line, and keep the details where they can be found."""
    said = f"unexpected {type(error).__name__}: {error}".rstrip(": ")
    if os.environ.get("ECHOMQ_DEBUG"):
        traceback.print_exception(error)
        complain(said)
        return TROUBLE
    kept = _keep(error)
    complain(f"{said} ({f'the details are in {kept}' if kept else 'ECHOMQ_DEBUG=1 shows the details'})")
    return TROUBLE


def _keep(error: Exception) -> Path | None:
    import platformdirs

    path = Path(platformdirs.user_state_dir("echomq-console")) / "last-error.txt"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return None
    return path


def _write_whatever_it_holds(stream: Any) -> None:
    """Where the terminal's encoding has no such character, write its escape instead of failing."""
    with contextlib.suppress(AttributeError, ValueError):
        stream.reconfigure(errors="backslashreplace")


def _let_go(stream: Any) -> None:
    """Nobody reads: whatever is still in the buffer goes nowhere, without a word at the end of the program."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
