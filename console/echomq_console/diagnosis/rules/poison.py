"""poison: entries that were delivered again and again and are still pending."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.diagnosis.command_line import command_line
from echomq_console.diagnosis.wording import entries, shown
from echomq_console.model.finding import Finding, Recovery, Severity

_NAMED = 20


def poison(case: Case) -> Iterator[Finding]:
    """Find entries at or past the limit of deliveries; ghosts left out, since they have nothing left to process."""
    scan = case.group.scan
    if scan is None or not case.group.pending:
        return
    ghosts = set(scan.ghosts)
    rows = sorted((row for row in scan.poison if row.id not in ghosts), key=lambda row: -row.delivery_count)
    if not rows:
        return
    stream, group = case.group.key
    limit = case.thresholds.poison_deliveries
    count = min(max(scan.poison_count, len(rows)), case.group.pending)
    most = rows[0].delivery_count
    owners = sorted({shown(row.consumer) for row in rows})
    were = "was" if count == 1 else "were"
    yield Finding(
        rule="poison",
        severity=Severity.CRITICAL,
        stream=stream,
        group=group,
        consumer=None,
        headline=f"{entries(count)} {were} delivered {limit} times or more (up to {most}) and never acknowledged.",
        evidence={
            "entries": count,
            "max_delivery_count": most,
            "limit": limit,
            "longest_idle_ms": max(row.idle_ms for row in rows) + max(0, case.now_ms - scan.at_ms),
            "ids": ", ".join(str(row.id) for row in rows[:_NAMED]),
            "owners": ", ".join(owners[:_NAMED]),
        },
        explanation=(
            "Every delivery that does not end in an acknowledgement is followed by another one. An entry that comes "
            "back this often usually makes its handler fail, or ends the consumer that takes it, and will go on doing "
            "so to whoever is next."
        ),
        advice=(
            "Look at the payload first, and at the consumers' logs at the times of delivery.",
            "Move these entries to the dead letters: they keep every byte, and where they came from.",
        ),
        warning=(
            "Do not go on claiming them, and do not delete them from the stream without acknowledging: a pending row "
            "without an entry would stay behind."
        ),
        recovery=Recovery("dead-letter", _command(case, [bytes(row.id) for row in rows], count)),
    )


def _command(case: Case, ids: list[bytes], count: int) -> str:
    """Name the entries one by one, or by a filter where they are too many for a line."""
    which = [b"deliveries>=%d" % case.thresholds.poison_deliveries] if count > _NAMED else ids
    return command_line("dead-letter", (*case.group.key, *which), (), case.thresholds)
