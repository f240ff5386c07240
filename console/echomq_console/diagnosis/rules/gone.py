"""gone: a consumer holds entries, and has not been seen for T."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.diagnosis.command_line import HANDLER, command_line
from echomq_console.diagnosis.wording import entries, shown
from echomq_console.model.finding import Finding, Recovery, Severity
from echomq_console.model.snapshot import ConsumerState
from echomq_console.model.text import duration, exact_duration


def gone(case: Case) -> Iterator[Finding]:
    """Find consumers that hold entries, have not tried to read for T, and hold nothing younger than T.

    Only where the server says when a consumer last tried (7.2+); see `silent` for the others. A connection that is
    known to be the consumer's own speaks against it.
    """
    for consumer in case.group.consumers:
        if consumer.idle_is_last_try and is_gone(case, consumer):
            yield _finding(case, consumer)


def is_gone(case: Case, consumer: ConsumerState) -> bool:
    """Whether a consumer counts as not seen while it holds entries that others could recover."""
    return (
        case.recoverable(consumer) > 0
        and not consumer.connections
        and case.is_unseen(consumer)
        and case.all_rows_are_old(consumer)
    )


def held_evidence(case: Case, consumer: ConsumerState) -> dict[str, int | str | None]:
    """The numbers that `gone` and `silent` rest on; milliseconds by the server's clock."""
    held = case.held(consumer)
    return {
        "pending": consumer.pending,
        "idle_ms": consumer.idle_ms,
        "inactive_ms": consumer.inactive_ms,
        "threshold_ms": case.thresholds.job_ms,
        "rows_looked_at": 0 if held is None else held.rows,
        "longest_idle_ms": consumer.idle_ms if held is None else max(0, case.now_ms - held.oldest_delivery_ms),
        "shortest_idle_ms": None if held is None else max(0, case.now_ms - held.newest_delivery_ms),
        "poison": 0 if held is None else held.poison,
        "ghosts": 0 if held is None else held.ghosts,
    }


def poison_first(case: Case, consumer: ConsumerState) -> tuple[str, ...]:
    """The step before a recovery where some of the entries have failed too often already."""
    held = case.held(consumer)
    if held is None or not held.poison:
        return ()
    limit = case.thresholds.poison_deliveries
    return (f"First dead-letter the {entries(held.poison)} among them delivered {limit} times or more.",)


def consoles_own(name: bytes) -> tuple[str, ...]:
    """The first step where a console of ours holds the entries: it claimed them, and did not get through."""
    if not name.startswith(b"console-"):
        return ()
    return ("This is a console's own name: it claimed these and did not finish. Run the autoclaim again from there.",)


def _finding(case: Case, consumer: ConsumerState) -> Finding:
    stream, group = case.group.key
    name, limit = shown(consumer.name), exact_duration(case.thresholds.job_ms)
    holds = f"{name} holds {entries(consumer.pending)}"
    if case.was_only_touched(consumer):
        ago = duration(case.now_ms - case.touched[(stream, group, consumer.name)])
        headline = f"{holds} and has done nothing of its own since this console claimed entries to it {ago} ago."
    else:
        headline = f"{holds} and has not been seen for {duration(consumer.idle_ms)}."
    return Finding(
        rule="gone",
        severity=Severity.CRITICAL,
        stream=stream,
        group=group,
        consumer=consumer.name,
        headline=headline,
        evidence=held_evidence(case, consumer),
        explanation=(
            f"Entries stay on the list of the consumer that received them until they are acknowledged. {name} has not "
            f"asked for anything for longer than a job may take ({limit}), and nothing on its list was delivered more "
            "recently than that, so nobody is going to finish these entries by themselves. A consumer that hangs in a "
            "handler looks exactly the same, which is why this says “not seen”."
        ),
        advice=(
            *consoles_own(consumer.name),
            *poison_first(case, consumer),
            "Will it come back? Start it under the same name: it drains its own list.",
            f"If not: take its entries over (autoclaim) with the service's handler, min-idle {limit}.",
            "Without the handler here: hand its entries to a consumer that you then restart, or forward them.",
        ),
        warning="Do not delete the consumer: what is on its list would never be given to anyone again.",
        recovery=Recovery(
            "autoclaim",
            command_line("autoclaim", (stream, group), ("--min-idle", limit, *HANDLER), case.thresholds),
            consumer.name,
        ),
    )
