"""Telling what a run does: to a person, as one JSON document, or as a stream of JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from echomq_console.engine.events import Event
    from echomq_console.model.action import Outcome, Plan, Progress
    from echomq_console.model.snapshot import Snapshot

    from .order import How


class Teller:
    """Tells nothing; the base of those that tell."""

    wants_events = False

    def stops_by(self, stop: asyncio.Event) -> None:
        """Learn how to stop the run, for when nobody listens any more."""

    def show_plan(self) -> None:
        """Show the plan."""

    def show_nothing(self) -> None:
        """Say that nothing was run."""

    def audit(self, audit_id: str) -> None:
        """Say under which id the run is recorded."""

    def progress(self, progress: Progress) -> None:
        """Say how far it has come."""

    def event(self, event: Event) -> None:
        """Pass on what the engine did."""

    def show_outcome(self, outcome: Outcome) -> None:
        """Say what was done."""


@contextlib.contextmanager
def teller_of(action: str, snapshot: Snapshot, plan: Plan, how: How) -> Iterator[Teller]:
    """Choose how to tell, and keep standard output for it: what a handler prints goes to standard error."""
    with _own_output() as output:
        if how.events:
            yield _Lines(plan, output, own_events=not how.confirmed)
        elif how.as_json:
            yield _OneDocument(action, snapshot, plan, output)
        else:
            yield _Words(plan, output)


class _Words(Teller):
    """For a person: the plan, a line that counts while it runs, the outcome."""

    def __init__(self, plan: Plan, output: IO[str]) -> None:
        from .printing import Printer

        self._plan = plan
        self._printer = Printer(output)
        self._counts = sys.stderr.isatty()

    def show_plan(self) -> None:
        from echomq_console.present.plans import plan_view

        self._printer.plan(plan_view(self._plan))

    def show_nothing(self) -> None:
        if self._plan.refusal is not None:
            self._printer.say(f"  ✕ {self._plan.refusal}", "warn")
        self._printer.say("  nothing was changed", "dim")

    def progress(self, progress: Progress) -> None:
        if self._counts:
            settled = progress.done + progress.failed + progress.dead_lettered + progress.skipped
            sys.stderr.write(f"\r{settled:,} of {progress.total:,}")
            sys.stderr.flush()

    def show_outcome(self, outcome: Outcome) -> None:
        from echomq_console.present.plans import outcome_lines

        if self._counts:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self._printer.lines(outcome_lines(outcome))


class _OneDocument(Teller):
    """For a program: plan and outcome in one document, at the end."""

    def __init__(self, action: str, snapshot: Snapshot, plan: Plan, output: IO[str]) -> None:
        self._action = action
        self._snapshot = snapshot
        self._plan = plan
        self._output = output

    def show_nothing(self) -> None:
        self._write(None)

    def show_outcome(self, outcome: Outcome) -> None:
        from echomq_console.actions.record import outcome_document

        self._write(outcome_document(outcome))

    def _write(self, outcome: dict[str, Any] | None) -> None:
        from echomq_console.present.documents import document, plan_document

        from .printing import Printer

        said = document(
            self._action,
            self._snapshot.server,
            self._snapshot.taken_at_ms,
            plan=plan_document(self._plan),
            outcome=outcome,
        )
        Printer(self._output).json(said)


class _Lines(Teller):
    """For a program that follows: one JSON line per event, each written at once.

    `own_events`: the engine's own events too. When nobody reads any more, the run is stopped.
    """

    def __init__(self, plan: Plan, output: IO[str], *, own_events: bool) -> None:
        self.wants_events = own_events
        self._plan = plan
        self._output = output
        self._stop: asyncio.Event | None = None

    def stops_by(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def show_plan(self) -> None:
        from echomq_console.present.documents import plan_document

        self._write({"event": "plan", **plan_document(self._plan)})

    def audit(self, audit_id: str) -> None:
        self._write({"event": "audit", "audit_id": audit_id})

    def progress(self, progress: Progress) -> None:
        self._write({"event": "progress", **asdict(progress)})

    def event(self, event: Event) -> None:
        self._write(event.as_dict())

    def show_outcome(self, outcome: Outcome) -> None:
        from echomq_console.actions.record import outcome_document

        self._write({"event": "outcome", **outcome_document(outcome)})

    def _write(self, said: dict[str, Any]) -> None:
        line = json.dumps(said, separators=(",", ":")) + "\n"
        try:
            _write_all(self._output.fileno(), line.encode("utf-8", "backslashreplace"))
        except OSError:
            if self._stop is not None:
                self._stop.set()


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextlib.contextmanager
def _own_output() -> Iterator[IO[str]]:
    """Take standard output for ourselves: what else is printed meanwhile, by whatever means, goes to standard error."""
    sys.stdout.flush()
    descriptor = sys.stdout.fileno()
    own = os.dup(descriptor)
    output = os.fdopen(own, "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(sys.stderr.fileno(), descriptor)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield output
        output.flush()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os.dup2(own, descriptor)
        with contextlib.suppress(OSError):
            output.close()
