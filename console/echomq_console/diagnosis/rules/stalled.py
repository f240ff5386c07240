"""stalled: there are new entries, and nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from echomq_console.diagnosis.case import Case
from echomq_console.diagnosis.wording import entries
from echomq_console.model.finding import Finding, Recovery, Severity
from echomq_console.model.snapshot import GroupState, StreamState
from echomq_console.model.text import duration


def stalled(case: Case) -> Iterator[Finding]:
    """Find groups with new entries that nobody has read for `stalled_ms`.

    The consumers' idle times say how long nobody has read, unless earlier snapshots show that the new entries came
    later than that. Without consumers (or with none that acted on its own) only earlier snapshots can say it.
    """
    if not case.is_looked_at or not has_new_entries(case.stream, case.group):
        return
    idle = [c.idle_ms for c in case.group.consumers if not case.was_only_touched(c)]
    limit_ms = case.thresholds.stalled_ms
    if idle and min(idle) < limit_ms:
        return
    waited_ms, is_beginning_known = _waited(case)
    if waited_ms < limit_ms and (is_beginning_known or not idle):
        return
    yield _finding(case, min(idle) if idle else waited_ms)


def has_new_entries(stream: StreamState, group: GroupState) -> bool:
    """Whether the stream holds entries the group was not given yet.

    The lag can be wrong after trimming on some versions, so it is held against the ids; where it is null the ids
    alone decide.
    """
    is_ahead = stream.last_generated_id > group.last_delivered_id and stream.length > 0
    return is_ahead and (group.lag is None or group.lag > 0)


def _waited(case: Case) -> tuple[int, bool]:
    """For how long earlier snapshots show the same new entries waiting, and whether they also show the time before."""
    since_ms = case.now_ms
    for snapshot in reversed(case.previous):
        if case.now_ms - since_ms >= case.thresholds.stalled_ms:
            break
        stream = snapshot.stream(case.stream.key)
        group = next((g for g in stream.groups if g.name == case.group.name), None) if stream is not None else None
        if stream is None or group is None:
            break
        if group.last_delivered_id != case.group.last_delivered_id or not has_new_entries(stream, group):
            return case.now_ms - since_ms, True
        since_ms = snapshot.taken_at_ms
    return case.now_ms - since_ms, False


def _finding(case: Case, unread_ms: int) -> Finding:
    stream, group = case.group.key
    lag, consumers = case.group.lag, case.group.consumers
    waiting = f"{entries(lag)} not delivered yet" if lag is not None else "New entries (the server cannot say how many)"
    wait = "waits" if lag == 1 else "wait"
    readers = "nobody has read" if consumers else "the group has no consumers: nobody has read"
    busy = sum(1 for consumer in consumers if consumer.pending)
    return Finding(
        rule="stalled",
        severity=Severity.CRITICAL,
        stream=stream,
        group=group,
        consumer=None,
        headline=f"{waiting} {wait}, and {readers} for {duration(unread_ms)}.",
        evidence={
            "lag": lag,
            "longest_idle_ms": unread_ms,
            "threshold_ms": case.thresholds.stalled_ms,
            "consumers": len(consumers),
            "consumers_holding_entries": busy,
            "last_delivered_id": str(case.group.last_delivered_id),
            "last_generated_id": str(case.stream.last_generated_id),
        },
        explanation=(
            "Producers append, but no consumer of this group asks for new entries. Nothing is lost while the stream is "
            "not trimmed; the work is simply not done."
            + (" Its consumers may also be busy for that long with entries they already hold." if busy else "")
        ),
        advice=(
            "Start the service's consumers, or find out why those that run do not read.",
            "Until then, this console can consume with the service's handler (the full consumer).",
        ),
        warning="Do not make the group again at the end of the stream: the entries that wait would be skipped.",
        recovery=Recovery("", ""),
    )
