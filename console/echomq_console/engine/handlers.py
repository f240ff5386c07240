"""Handlers by name: `module:function`, or `exec:PROGRAM ARG ...` for a program of any language."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from echomq_console.server.errors import one_line

from .entry import Entry
from .errors import HandlerNotFound
from .events import plain
from .verdict import Error, Ok, Verdict

Handler: TypeAlias = "Callable[[Entry], Awaitable[Verdict] | Verdict]"
"""A coroutine function, or a plain one, which then runs in a thread."""

_TAIL = 64 * 1024


def load_handler(spec: str) -> Handler:
    """Find a handler: `package.module:function`, or `exec:PROGRAM ARG ...` (an argument list, no shell).

    A module is looked for where Python looks, then in the current folder. Raises HandlerNotFound, one clear line.
    """
    kind, colon, rest = spec.partition(":")
    if not colon or not kind or not rest.strip():
        raise HandlerNotFound(f"not a handler: {spec!r} (use module:function or exec:PROGRAM ARG ...)")
    return _program(rest, spec) if kind == "exec" else _function(kind, rest, spec)


def _program(rest: str, spec: str) -> Handler:
    try:
        arguments = shlex.split(rest)
    except ValueError as error:
        raise HandlerNotFound(f"not a handler: {spec!r} ({error})") from None
    if shutil.which(arguments[0]) is None:
        raise HandlerNotFound(f"no program {arguments[0]!r} that can be run")
    return ExecHandler(tuple(arguments))


def _function(module_name: str, name: str, spec: str) -> Handler:
    found: Any = _module(module_name, spec)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise HandlerNotFound(f"the module {module_name!r} has no {name!r}")
    if not callable(found):
        raise HandlerNotFound(f"{spec!r} is no function but {type(found).__name__}")
    handler: Handler = found
    return handler


def _module(name: str, spec: str) -> Any:
    added = None
    here = os.getcwd()  # sys.path holds text
    if here not in sys.path and "" not in sys.path:
        sys.path.append(added := here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if added:
            sys.path.remove(added)
        if error.name == name or name.startswith(f"{error.name}."):
            raise HandlerNotFound(f"no module {name!r} for the handler {spec!r}") from None
        raise HandlerNotFound(f"the module {name!r} cannot be imported: {one_line(str(error))}") from error
    except Exception as error:  # foreign code runs at import: whatever it raises, the handler is not there
        if added:
            sys.path.remove(added)
        text = one_line(f"{type(error).__name__}: {error}")
        raise HandlerNotFound(f"the module {name!r} cannot be imported: {text}") from error


class ExecHandler:
    """A program as a handler: the entry as one JSON object on its stdin; exit 0 is `Ok`.

    Any other exit is an `Error` with the last line of its stderr. When the call is cancelled, as a timeout does, its
    whole process group is ended.
    """

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self.arguments = arguments

    async def __call__(self, entry: Entry) -> Verdict:
        """Run the program on one entry."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # a process group of its own, to be ended as a whole
            )
        except OSError as error:
            return Error(f"cannot run {self.arguments[0]}: {error.strerror or error}")
        tail = asyncio.ensure_future(_last_line(process.stderr))
        try:
            await _feed(process.stdin, as_json(entry))
            code = await process.wait()
            # A grandchild may hold stderr open for ever: what it says after the end is nobody's reason.
            await asyncio.wait([tail], timeout=1.0)
            return Ok() if code == 0 else Error(_reason(code, tail))
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await asyncio.shield(process.wait())
            tail.cancel()


def as_json(entry: Entry) -> bytes:
    """Write an entry as one line of JSON: id, payload, attempts, group.

    Values that are not UTF-8 become `{"base64": ...}`; a name that is not becomes `base64:...`.
    """
    payload: Mapping[str, Any] = {_name(name): plain(value) for name, value in entry.payload.items()}
    said = {"id": entry.id, "payload": payload, "attempts": entry.attempts, "group": entry.group}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _name(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(name).decode()


async def _feed(stdin: asyncio.StreamWriter | None, data: bytes) -> None:
    assert stdin is not None
    # A program that does not read its input is none the worse for it.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
    stdin.close()


async def _last_line(stderr: asyncio.StreamReader | None) -> str:
    assert stderr is not None
    tail = b""
    while block := await stderr.read(_TAIL):
        tail = (tail + block)[-_TAIL:]
    lines = tail.decode("utf-8", "replace").strip().splitlines()
    return one_line(lines[-1]) if lines else ""


def _reason(code: int, tail: asyncio.Future[str]) -> str:
    line = tail.result() if tail.done() else ""
    how = f"ended by signal {-code}" if code < 0 else f"exit {code}"
    return line or how
