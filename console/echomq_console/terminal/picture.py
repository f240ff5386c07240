"""The picture: the last good snapshot with what was found in it, and how the way to the server is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from echomq_console.diagnosis import diagnose
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.model.snapshot import Snapshot
from echomq_console.observe.history import History

KEPT = 90
"""Snapshots kept for the rules that look back, one a second."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What the screens show. `at` is this machine's monotonic second at which the snapshot came in."""

    snapshot: Snapshot | None = None
    findings: tuple[Finding, ...] = ()
    at: float = 0.0
    error: str | None = None
    history: History = field(default_factory=History)
    previous: tuple[Snapshot, ...] = ()

    def with_snapshot(self, snapshot: Snapshot, at: float, thresholds: Thresholds) -> Picture:
        """The next picture, after a poll that came through."""
        self.history.add(snapshot)
        findings = diagnose(snapshot, self.previous, thresholds)
        kept = (*self.previous, snapshot)[-KEPT:]
        return replace(self, snapshot=snapshot, findings=findings, at=at, error=None, previous=kept)

    def with_error(self, error: str) -> Picture:
        """The same picture, after a poll that failed: it stays, and its age says so."""
        return replace(self, error=error)

    def findings_of(self, key: tuple[bytes, bytes]) -> Sequence[Finding]:
        """What is wrong with one group, worst first."""
        return [finding for finding in self.findings if (finding.stream, finding.group) == key]

    def age_ms(self, now: float) -> int | None:
        """How old the snapshot is at a monotonic second; None where there is none yet."""
        return None if self.snapshot is None else max(0, round((now - self.at) * 1000))

    def server_now_ms(self, now: float) -> int:
        """The server's clock by now: the snapshot's time plus what passed since; 0 where nothing is known."""
        return 0 if self.snapshot is None else self.snapshot.taken_at_ms + (self.age_ms(now) or 0)
