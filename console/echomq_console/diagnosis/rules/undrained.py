"""undrained: a consumer lives, and holds entries that nobody has touched for T."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.diagnosis.command_line import HANDLER, command_line
from echomq_console.diagnosis.rules.gone import consoles_own
from echomq_console.diagnosis.wording import entries, shown
from echomq_console.model.finding import Finding, Recovery, Severity
from echomq_console.model.snapshot import ConsumerState, HeldRows
from echomq_console.model.text import duration, exact_duration, number


def undrained(case: Case) -> Iterator[Finding]:
    """Find consumers that read (or whose connection is known to stand) and hold entries idle for T or longer.

    Each entry is judged, not only the consumer: entries past the poison limit and ghosts are other rules' business.
    """
    for consumer in case.group.consumers:
        held = case.held(consumer)
        if held is None or held.oldest_overdue_ms is None:
            continue
        if case.is_unseen(consumer) and not consumer.connections:
            continue
        overdue = min(held.overdue, case.recoverable(consumer))
        if overdue > 0:
            yield _finding(case, consumer, held, overdue)


def _finding(case: Case, consumer: ConsumerState, held: HeldRows, overdue: int) -> Finding:
    stream, group = case.group.key
    name, limit = shown(consumer.name), exact_duration(case.thresholds.job_ms)
    longest_ms = max(0, case.now_ms - (held.oldest_overdue_ms or case.now_ms))
    reads = not case.is_unseen(consumer)
    how = "reads" if reads else f"is connected, has not read for {duration(consumer.idle_ms)}"
    share = f"{number(overdue)} of the {entries(consumer.pending)} it holds"
    return Finding(
        rule="undrained",
        severity=Severity.CRITICAL,
        stream=stream,
        group=group,
        consumer=consumer.name,
        headline=f"{name} {how}, and leaves {share} untouched for up to {duration(longest_ms)}.",
        evidence={
            "pending": consumer.pending,
            "overdue": overdue,
            "longest_idle_ms": longest_ms,
            "idle_ms": consumer.idle_ms,
            "threshold_ms": case.thresholds.job_ms,
            "max_delivery_count": held.max_delivery_count,
        },
        explanation=(_READS if reads else _CONNECTED).format(name=name, limit=limit),
        advice=(
            *consoles_own(consumer.name),
            f"Restart it so that it drains its own list before it reads new entries (look at its log first: {name} may "
            "be failing on them).",
            f"Or drain from here, under its name, what is idle for {limit} or longer, with the service's handler.",
            f"If a job may really take longer than {limit}: raise that threshold, and let the consumer renew.",
        ),
        warning="Adding consumers does not help: new ones receive new entries only, not what another one holds.",
        recovery=Recovery(
            "drain", command_line("drain", (stream, group, consumer.name), HANDLER, case.thresholds), consumer.name
        ),
    )


_READS = (
    "{name} asks for new entries, but entries it received longer ago than a job may take ({limit}) are still on its "
    "list. Reading new entries does not bring those back: either it was restarted and did not drain its own list, or "
    "its handler hangs or fails on them, or two processes share the name and one of them is gone."
)
_CONNECTED = (
    "A connection says that it is {name}'s, but it has not asked for anything for longer than a job may take "
    "({limit}), and holds entries that old: its handler hangs, or works on one of them for longer than that."
)
