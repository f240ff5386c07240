"""silent: as `gone`, on servers that cannot tell a gone consumer from a quiet one."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.diagnosis.command_line import HANDLER, command_line
from echomq_console.diagnosis.wording import entries, shown
from echomq_console.model.finding import Finding, Recovery, Severity
from echomq_console.model.snapshot import ConsumerState
from echomq_console.model.text import duration, exact_duration

from .gone import held_evidence, is_gone, poison_first


def silent(case: Case) -> Iterator[Finding]:
    """Find consumers that hold entries and have got nothing for T, where idle means that (before 7.2)."""
    for consumer in case.group.consumers:
        if not consumer.idle_is_last_try and is_gone(case, consumer):
            yield _finding(case, consumer)


def _finding(case: Case, consumer: ConsumerState) -> Finding:
    stream, group = case.group.key
    name, limit = shown(consumer.name), exact_duration(case.thresholds.job_ms)
    return Finding(
        rule="silent",
        severity=Severity.WARNING,
        stream=stream,
        group=group,
        consumer=consumer.name,
        headline=f"{name} holds {entries(consumer.pending)} and has received nothing for {duration(consumer.idle_ms)}.",
        evidence=held_evidence(case, consumer),
        explanation=(
            f"Nothing on the list of {name} was delivered within the time a job may take ({limit}), and it is not "
            "acknowledged either. This server is older than 7.2: it says when a consumer last received something, not "
            "when it last asked, so a consumer that is gone and one that waits on a quiet stream look the same."
        ),
        advice=(
            *poison_first(case, consumer),
            f"Look whether its process runs. If not, start it under the same name ({name}): it drains its own list.",
            f"Safe either way: take over (autoclaim) only what is idle for {limit} or longer.",
        ),
        warning=f"Do not claim with a min-idle below {limit}: it may still be working on what it holds.",
        recovery=Recovery(
            "autoclaim",
            command_line("autoclaim", (stream, group), ("--min-idle", limit, *HANDLER), case.thresholds),
            consumer.name,
        ),
    )
