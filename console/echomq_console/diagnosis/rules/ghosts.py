"""ghosts: pending rows whose entries are gone from the stream."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.model.finding import Finding, Recovery, Severity
from echomq_console.model.text import number


def ghosts(case: Case) -> Iterator[Finding]:
    """Find rows whose entries were trimmed or deleted while they were pending."""
    scan = case.group.scan
    if scan is None:
        return
    count = min(max(scan.ghost_count, len(scan.ghosts)), case.group.pending)
    if not count:
        return
    stream, group = case.group.key
    rows = "1 pending row has" if count == 1 else f"{number(count)} pending rows have"
    first_id = case.stream.first_id
    yield Finding(
        rule="ghosts",
        severity=Severity.WARNING,
        stream=stream,
        group=group,
        consumer=None,
        headline=f"{rows} no entry any more: trimmed or deleted from the stream before it was acknowledged.",
        evidence={
            "ghosts": count,
            "pending": case.group.pending,
            "first_id": None if first_id is None else str(first_id),
            "ids": ", ".join(map(str, scan.ghosts)),
        },
        explanation=(
            "The pending list remembers ids, not bodies. The stream no longer has these entries, so no consumer can "
            "process them any more: they are lost work, and the pending count never reaches zero while the rows stay."
        ),
        advice=(
            "Keep the list of ids: it is the only record of what was lost.",
            "An autoclaim or a drain that reaches these rows takes them off the list; the audit log keeps their ids.",
            "Trim by what the slowest group has acknowledged, not only by length.",
        ),
        warning="Do not acknowledge them blindly: the loss would be written down nowhere.",
        recovery=Recovery("", ""),
    )
