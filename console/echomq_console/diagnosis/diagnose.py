"""The diagnosis of a snapshot: all rules over all groups, the health of a group, the condition of a consumer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from echomq_console.model.finding import ConsumerCondition, Finding, Health, Severity, Thresholds
from echomq_console.model.snapshot import ConsumerState, GroupState, Snapshot, StreamState

from .case import Case, Touched
from .rules import RULES

_NOTHING_TOUCHED: Touched = {}


def diagnose(
    snapshot: Snapshot,
    previous: Sequence[Snapshot],
    thresholds: Thresholds,
    *,
    touched: Touched = _NOTHING_TOUCHED,
) -> tuple[Finding, ...]:
    """Apply every rule to every group; worst first, and within a severity by longest idle.

    `previous`: earlier snapshots, oldest first. `touched`: when this console last claimed entries to a consumer, by
    (stream, group, name), Unix milliseconds of the server's clock at the end of that claim; such a consumer counts as
    unseen until it acts on its own, because the claim made its idle time young.
    """
    found = [
        finding
        for stream, group in snapshot.groups()
        for rule in RULES
        for finding in rule(Case(stream, group, snapshot.taken_at_ms, thresholds, previous, touched))
    ]
    return tuple(sorted(found, key=_worst_first))


def health_of(findings: Iterable[Finding], group: GroupState) -> Health:
    """The worst of a group's findings; unknown where there are none but the group could not be read.

    Findings of other groups are passed over.
    """
    severities = [f.severity for f in findings if (f.stream, f.group) == group.key]
    if severities:
        return _HEALTH[max(severities)]
    return Health.WELL if group.problem is None else Health.UNKNOWN


def condition_of(
    consumer: ConsumerState,
    group: GroupState,
    thresholds: Thresholds,
    *,
    now_ms: int,
    touched_ms: int | None = None,
) -> ConsumerCondition:
    """What a consumer seems to be doing, by the same measure as the rules.

    READING: it tried to read (before 7.2: received something) within T. QUIET: it did not, and holds nothing, or its
    own connection is known to stand. GONE (SILENT before 7.2): it did not, and everything it holds is idle for T.
    UNKNOWN: anything else. `now_ms`: the snapshot's time; `touched_ms`: see `diagnose`.
    """
    stream = StreamState(group.stream, 0, group.last_delivered_id, None, None, None)
    touched = {} if touched_ms is None else {(*group.key, consumer.name): touched_ms}
    case = Case(stream, group, now_ms, thresholds, touched=touched)
    if not case.is_unseen(consumer):
        return ConsumerCondition.READING
    if consumer.connections or (not consumer.pending and not case.was_only_touched(consumer)):
        return ConsumerCondition.QUIET
    if consumer.pending and case.all_rows_are_old(consumer):
        return ConsumerCondition.GONE if consumer.idle_is_last_try else ConsumerCondition.SILENT
    return ConsumerCondition.UNKNOWN


_HEALTH = {
    Severity.INFO: Health.INFO,
    Severity.WARNING: Health.WARNING,
    Severity.CRITICAL: Health.CRITICAL,
}


def _worst_first(finding: Finding) -> tuple[int, int, bytes, bytes, str, bytes]:
    idle = finding.evidence.get("longest_idle_ms")
    return (
        -finding.severity,
        -idle if isinstance(idle, int) else 0,
        finding.stream,
        finding.group,
        finding.rule,
        finding.consumer or b"",
    )
