"""Counting a run while it goes on: for the progress bar, the audit log and the outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from echomq_console.audit.log import AuditedAction
from echomq_console.engine.events import (
    Acknowledged,
    Claimed,
    DeadLettered,
    DeadLetterFailed,
    Delivered,
    Event,
    Failed,
    Ghost,
    Lost,
)
from echomq_console.engine.report import Report
from echomq_console.model.action import Progress, Skipped
from echomq_console.model.text import harmless

OnProgress = Callable[[Progress], None]
OnEvent = Callable[[Event], None]


@dataclass(slots=True)
class Tally:
    """What became of which entries so far, over all the engine's calls of one run."""

    total: int
    on_progress: OnProgress | None = None
    on_event: OnEvent | None = None
    done: list[str] = field(default_factory=list)
    dead_lettered: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    claimed: set[str] = field(default_factory=set)
    trouble: str | None = None
    _written: tuple[int, int, frozenset[str]] = (0, 0, frozenset())

    def listen(self, event: Event) -> None:
        """Take one event of the engine."""
        if self.on_event is not None:
            self.on_event(event)
        line = self._line(event)
        if line is not None and self.on_progress is not None:
            self.on_progress(self.progress(line))

    def progress(self, line: str = "") -> Progress:
        """How far the run has come."""
        return Progress(
            len(self.done), len(self.failures), len(self.dead_lettered), len(self.skipped), self.total, line
        )

    def _line(self, event: Event) -> str | None:
        match event:
            case Delivered(id=entry_id, attempts=attempts):
                return f"{entry_id}  delivered, attempt {attempts}"
            case Acknowledged(ids=ids):
                self.done += ids
                for entry_id in ids:
                    self.failures.pop(entry_id, None)
                return f"{ids[0]}  ok, acknowledged" if len(ids) == 1 else f"{len(ids)} entries  ok, acknowledged"
            case Claimed(ids=ids):
                self.claimed.update(ids)
            case Failed(id=entry_id, reason=reason):
                self.failures[entry_id] = reason
                return f"{entry_id}  failed: {harmless(reason, 160)}"
            case DeadLettered(id=entry_id, dead_id=dead_id, reason=reason):
                self.dead_lettered.append(entry_id)
                self.failures.pop(entry_id, None)
                return f"{entry_id}  moved to the dead letters as {dead_id}: {harmless(reason, 120)}"
            case DeadLetterFailed(id=entry_id, problem=problem):
                self.failures[entry_id] = problem
                return f"{entry_id}  cannot be dead-lettered: {harmless(problem, 160)}"
            case Ghost(id=entry_id):
                self.skipped[entry_id] = "deleted from the stream: its row is taken off the list"
                return f"{entry_id}  is gone from the stream"
            case Lost(id=entry_id):
                self.skipped[entry_id] = "somebody else took or settled it meanwhile"
                return f"{entry_id}  was taken or settled by somebody else"
        return None

    def add(self, report: Report) -> None:
        """Take what only a report says: what was left alone, and why."""
        for entry_id in report.ids.get("skipped", ()):
            self.skipped.setdefault(entry_id, report.reasons.get(entry_id, "changed since the preview"))

    def failure_list(self) -> tuple[Skipped, ...]:
        """The entries that are still pending, with the handler's reasons."""
        return tuple(Skipped(entry_id, why) for entry_id, why in self.failures.items())

    def skipped_list(self) -> tuple[Skipped, ...]:
        """The entries that were left alone, with the reasons."""
        return tuple(Skipped(entry_id, why) for entry_id, why in self.skipped.items())

    def write_batch(self, audited: AuditedAction) -> None:
        """Write what became of which entries since the last batch. Raises AuditError."""
        done, dead, failed = self._written
        written = (len(self.done), len(self.dead_lettered), frozenset(self.failures))
        if written != self._written:
            new = [entry_id for entry_id in self.failures if entry_id not in failed]
            audited.write("batch", done=self.done[done:], dead_lettered=self.dead_lettered[dead:], failed=new)
            self._written = written
