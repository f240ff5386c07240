"""Findings: what is wrong with a group, by what evidence, and which recovery fits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class Severity(IntEnum):
    """How bad a finding is; a greater number is worse."""

    INFO = 1
    WARNING = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        """The name used in JSON."""
        return self.name.lower()


class Health(Enum):
    """How a group is: the worst of its findings, or unknown where it could not be read."""

    WELL = "well"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"
    UNKNOWN = "unknown"


class ConsumerCondition(Enum):
    """What a consumer seems to be doing; "gone" means "not seen for T", never "dead"."""

    READING = "reading"
    QUIET = "quiet"
    SILENT = "silent"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Recovery:
    """The recovery that fits: an action of the console (`drain`, `autoclaim`, `dead-letter`, or "" where the cure lies
    elsewhere), the consumer it concerns, and the one-shot command that runs it."""

    action: str
    command: str
    consumer: bytes | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    `headline` says it in one line, with its numbers; `evidence` are those numbers by name; `explanation` says to a
    newcomer what it means; `advice` what to do, one step a line; `warning` what not to do.
    """

    rule: str
    severity: Severity
    stream: bytes
    group: bytes
    consumer: bytes | None
    headline: str
    evidence: dict[str, int | str | None]
    explanation: str
    advice: tuple[str, ...]
    recovery: Recovery
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the rules draw their lines; milliseconds.

    `job_ms` is T, the longest a job may take: what has been idle for that long is nobody's work any more.
    """

    job_ms: int = 300_000
    poison_deliveries: int = 5
    stalled_ms: int = 60_000
