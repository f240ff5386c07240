"""Run a confirmed plan in a child process: code that is not ours never runs inside the app.

The child is the same one-shot command, with `--events -`: one JSON line per event on its standard output. A handler
that prints, blocks or exits touches neither the screen nor the leases. The child stops cleanly when its standard input
ends, so also when the app dies.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from echomq_console.model.action import Outcome, Plan, Progress, Skipped
from echomq_console.model.encoding import bytes_of_json

from .complaints import Complaints, complaints_pipe
from .confirmed import confirmed_idle_ms
from .session import ActionRefused, Session
from .tally import OnProgress

_LINE_LIMIT = 64 * 1024 * 1024


async def run_in_child(
    session: Session,
    plan: Plan,
    *,
    on_progress: OnProgress | None = None,
    on_audit: Callable[[str], None] | None = None,
    stop: asyncio.Event | None = None,
) -> Outcome:
    """Carry out a plan that was confirmed, its handler in a process of its own.

    `stop`: when set, the child settles what runs and ends. Raises ActionRefused where the child refused before
    anything was changed; a child that dies in mid-run gives an outcome whose `error` says so.
    """
    session.require_writable()
    if plan.refusal is not None:
        raise ActionRefused(plan.refusal)
    async with complaints_pipe() as complaints:
        child = await _begun(session, plan, complaints.writing)
        complaints.close_end()
        return await _follow(child, _Listening(plan, on_progress, on_audit), complaints, stop or asyncio.Event())


async def _follow(
    child: asyncio.subprocess.Process, listening: _Listening, complaints: Complaints, stop: asyncio.Event
) -> Outcome:
    """Listen to a child until its end; it is told to stop where we are to stop, or are cancelled."""
    watcher = asyncio.create_task(_close_when_stopped(child, stop))
    try:
        assert child.stdout is not None
        # Not to the end of the pipe: whatever a handler forked may hold it open long after the child is over.
        while not listening.is_told and (line := await child.stdout.readline()):
            listening.take(line)
        code = await child.wait()
        return listening.outcome_of(code, "" if listening.is_told else await complaints.last_line())
    finally:
        watcher.cancel()
        if child.returncode is None:
            _close(child)
            await child.wait()


async def _begun(session: Session, plan: Plan, complaints: int) -> asyncio.subprocess.Process:
    """Start the child, its standard error at `complaints`.

    Raises ActionRefused where no command line can carry the names.
    """
    # The URL may hold a password: it travels in the environment, which other users cannot read, not as an argument.
    environment = {**os.environ, "ECHOMQ_URL": session.address.url, "ECHOMQ_AUDIT": str(session.audit.path)}
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            # -P: a file in the current folder must not stand in for a module of ours; handlers are looked for there
            # last.
            *("-P", "-m", "echomq_console", *arguments(session, plan)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            env=environment,
            start_new_session=True,  # a ctrl-c on the app's terminal is the app's, not the handler's
            limit=_LINE_LIMIT,
        )
    except (OSError, ValueError) as error:  # a NUL in a name, or a name longer than a command line may be
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ActionRefused(f"the process that was to run the handler cannot be started: {reason}") from None


def arguments(session: Session, plan: Plan) -> list[str]:
    """The one-shot command that runs a plan, as its arguments."""
    target, options = plan.target, plan.options
    names = [target.stream, target.group, *([target.consumer] if target.consumer is not None else [])]
    said = [plan.action, *("--yes", "--confirmed", "--events", "-", "--stop-on-eof")]
    said += ["--min-idle", f"{confirmed_idle_ms(session, plan)}ms"]
    said += ["--job-time", f"{session.thresholds.job_ms}ms", "--batch", str(options.batch)]
    said += ["--handler", options.handler or ""]
    if options.max_attempts is not None:
        said += ["--max-attempts", str(options.max_attempts)]
    if options.owner_is_stopped:
        said += ["--owner-is-stopped"]
    return [*said, "--", *map(os.fsdecode, names)]


class _Listening:
    """Reads what the child says."""

    def __init__(self, plan: Plan, on_progress: OnProgress | None, on_audit: Callable[[str], None] | None) -> None:
        self._plan = plan
        self._on_progress = on_progress
        self._on_audit = on_audit
        self._audit_id = ""
        self._last = Progress(0, 0, 0, 0, plan.count)
        self._outcome: Outcome | None = None

    def take(self, line: bytes) -> None:
        """Take one line; what is no line of ours (a handler found the descriptor and wrote there) is passed over."""
        try:
            said = _read(json.loads(line))
        except (LookupError, TypeError, ValueError, RecursionError):
            return
        match said:
            case Progress():
                self._last = said
                if self._on_progress is not None:
                    self._on_progress(said)
            case Outcome():
                self._outcome = said
            case str():
                self._audit_id = said
                if self._on_audit is not None:
                    self._on_audit(said)

    @property
    def is_told(self) -> bool:
        """Whether the child told its outcome."""
        return self._outcome is not None

    def outcome_of(self, code: int, complaints: str) -> Outcome:
        """Say how it ended, also where the child did not."""
        if self._outcome is not None:
            return self._outcome
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        if not self._audit_id:
            raise ActionRefused(complaints or f"the process that was to run the handler {how} before it began")
        return Outcome(
            action=self._plan.action,
            stream=self._plan.target.stream,
            group=self._plan.target.group,
            done=self._last.done,
            failed=self._last.failed,
            dead_lettered=self._last.dead_lettered,
            ids=(),
            failures=(),
            skipped=(),
            audit_id=self._audit_id,
            seconds=0.0,
            error=f"the process that ran the handler {how}: what it had not acknowledged is still pending",
        )


def _read(said: Any) -> Progress | Outcome | str | None:
    """Read a line's document; an audit id is text. Raises LookupError, TypeError or ValueError for what is none."""
    match said["event"]:
        case "progress":
            return Progress(**{name: value for name, value in said.items() if name != "event"})
        case "outcome":
            return _outcome_of(said)
        case "audit":
            return str(said["audit_id"])
    return None


def _outcome_of(said: dict[str, Any]) -> Outcome:
    return Outcome(
        action=said["action"],
        stream=bytes_of_json(said["stream"]),
        group=bytes_of_json(said["group"]),
        done=said["done"],
        failed=said["failed"],
        dead_lettered=said["dead_lettered"],
        ids=tuple(said["ids"]),
        failures=tuple(Skipped(*each) for each in said["failures"]),
        skipped=tuple(Skipped(*each) for each in said["skipped"]),
        audit_id=said["audit_id"],
        seconds=said["seconds"],
        error=said["error"],
        remaining=said["remaining"],
    )


async def _close_when_stopped(child: asyncio.subprocess.Process, stop: asyncio.Event) -> None:
    await stop.wait()
    _close(child)


def _close(child: asyncio.subprocess.Process) -> None:
    if child.stdin is not None and not child.stdin.is_closing():
        child.stdin.close()
