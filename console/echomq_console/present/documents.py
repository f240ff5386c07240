"""The JSON documents of the commands: stable names, null for unknown, bytes without loss, integers exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from echomq_console.diagnosis import condition_of
from echomq_console.model.action import Plan
from echomq_console.model.branded import BrandedId
from echomq_console.model.dead_letter import DeadLetterEntry, Provenance
from echomq_console.model.encoding import iso_utc, json_bytes
from echomq_console.model.entry import Pairs, StreamEntry, branded_id_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.finding import Finding, Thresholds
from echomq_console.model.snapshot import (
    ConsumerState,
    GroupState,
    PendingEntry,
    PendingScan,
    ServerIdentity,
    Snapshot,
)

from .groups import GroupLine, group_lines

Document = dict[str, Any]


def document(command: str, server: ServerIdentity | None, taken_at_ms: int, **said: Any) -> Document:
    """Begin a document: its schema, when it was true, by whose word; then what the command says."""
    return {
        "schema": f"echomq-console/{command}/1",
        "taken_at": iso_utc(taken_at_ms),
        "server": None if server is None else server_document(server),
        **said,
    }


def server_document(server: ServerIdentity) -> Document:
    """Who answered."""
    return {
        "address": server.address,
        "product": server.product,
        "version": None if server.version is None else ".".join(map(str, server.version)),
        "role": server.role,
    }


def groups_document(snapshot: Snapshot, findings: Sequence[Finding]) -> Document:
    """Every group, worst first; its `findings` are the names of the rules."""
    return _of_snapshot("groups", snapshot, groups=[_group(line) for line in group_lines(snapshot, findings)])


def consumers_document(snapshot: Snapshot, group: GroupState, thresholds: Thresholds) -> Document:
    """The consumers of a group."""
    rows = [_consumer(group, each, thresholds, snapshot.taken_at_ms) for each in group.consumers]
    return _of_snapshot("consumers", snapshot, consumers=rows)


def pending_document(
    snapshot: Snapshot,
    group: GroupState,
    rows: Sequence[PendingEntry],
    bodies: Mapping[EntryId, StreamEntry | None],
    *,
    complete: bool,
) -> Document:
    """Rows of a pending list; `complete`: these are all that were asked for, none was cut off by a limit."""
    return _of_snapshot(
        "pending",
        snapshot,
        total=group.pending,
        complete=complete,
        pending=[_row(group, row, bodies.get(row.id)) for row in rows],
    )


def dead_letters_document(
    snapshot: Snapshot, stream: bytes, entries: Sequence[DeadLetterEntry], *, complete: bool
) -> Document:
    """The dead letters of a stream; `id` is the one in the dead-letter stream."""
    return _of_snapshot(
        "dead-letters",
        snapshot,
        complete=complete,
        dead_letters=[
            {
                "stream": json_bytes(stream),
                "id": str(entry.id),
                "branded_id": _branded(branded_id_of(entry.original)),
                "fields": _fields(entry.original),
                "provenance": _provenance(entry.provenance),
            }
            for entry in entries
        ],
    )


def diagnose_document(snapshot: Snapshot, findings: Sequence[Finding]) -> Document:
    """What is wrong, worst first."""
    return _of_snapshot("diagnose", snapshot, findings=[finding_document(finding) for finding in findings])


def finding_document(finding: Finding) -> Document:
    """One finding."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "stream": json_bytes(finding.stream),
        "group": json_bytes(finding.group),
        "consumer": None if finding.consumer is None else json_bytes(finding.consumer),
        "evidence": dict(finding.evidence),
        "explanation": finding.explanation,
        "recovery": {"action": finding.recovery.action or None, "command": finding.recovery.command or None},
    }


def plan_document(plan: Plan) -> Document:
    """A dry run: what would be done to which entries. `exact` is false where `count` is an estimate."""
    target = plan.target
    return {
        "action": plan.action,
        "stream": json_bytes(target.stream),
        "group": json_bytes(target.group),
        "consumer": None if target.consumer is None else json_bytes(target.consumer),
        "count": plan.count,
        "exact": plan.exact,
        "ids": [str(row.id) for row in plan.before],
        "warnings": list(plan.warnings),
        "commands": list(plan.commands),
        "needs_count": plan.needs_count,
        "refusal": plan.refusal,
    }


def scan_document(scan: PendingScan | None) -> Document | None:
    """How much of a pending list the figures rest on; null where nothing of it was looked at."""
    return None if scan is None else {"rows": scan.rows, "of": scan.total, "complete": scan.complete}


def _of_snapshot(command: str, snapshot: Snapshot, **said: Any) -> Document:
    return document(command, snapshot.server, snapshot.taken_at_ms, problems=list(snapshot.problems), **said)


def _group(line: GroupLine) -> Document:
    group = line.group
    return {
        "stream": json_bytes(line.stream.key),
        "group": json_bytes(group.name),
        "length": line.stream.length,
        "pending": group.pending,
        "lag": group.lag,
        "entries_read": group.entries_read,
        "last_delivered_id": str(group.last_delivered_id),
        "consumers": len(group.consumers) if group.consumers or group.problem is None else None,
        "longest_idle_ms": group.longest_idle_ms(line.now_ms),
        "max_delivery_count": group.max_delivery_count,
        "health": line.health.value,
        "findings": [finding.rule for finding in line.findings],
        "scan": scan_document(group.scan),
    }


def _consumer(group: GroupState, consumer: ConsumerState, thresholds: Thresholds, now_ms: int) -> Document:
    """Before 7.2 the server's one number is since the consumer last got something; when it last tried is unknown."""
    tells = consumer.idle_is_last_try
    return {
        "stream": json_bytes(group.stream),
        "group": json_bytes(group.name),
        "name": json_bytes(consumer.name),
        "pending": consumer.pending,
        "idle_ms": consumer.idle_ms if tells else None,
        "inactive_ms": consumer.inactive_ms if tells else consumer.idle_ms,
        "state": condition_of(consumer, group, thresholds, now_ms=now_ms).value,
    }


def _row(group: GroupState, row: PendingEntry, body: StreamEntry | None) -> Document:
    return {
        "stream": json_bytes(group.stream),
        "group": json_bytes(group.name),
        "id": str(row.id),
        "branded_id": None if body is None else _branded(body.branded_id),
        "consumer": json_bytes(row.consumer),
        "idle_ms": row.idle_ms,
        "delivery_count": row.delivery_count,
    }


def _provenance(said: Provenance) -> Document:
    return {
        "stream": json_bytes(said.stream),
        "group": json_bytes(said.group),
        "id": str(said.entry_id),
        "consumer": json_bytes(said.consumer),
        "delivery_count": said.attempts,
        "idle_ms": said.idle_ms,
        "reason": json_bytes(said.reason),
        "by": json_bytes(said.by),
        "at": _moment(said.at_ms),
    }


def _fields(pairs: Pairs) -> list[list[Any]]:
    return [[json_bytes(name), json_bytes(value)] for name, value in pairs]


def _branded(branded: BrandedId | None) -> str | None:
    return None if branded is None else str(branded)


def _moment(unix_ms: int) -> str | None:
    """A moment; null where the number is none that a calendar knows: a dead letter may hold anything."""
    try:
        return iso_utc(unix_ms)
    except (OverflowError, ValueError, OSError):
        return None
