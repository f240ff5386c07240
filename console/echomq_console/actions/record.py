"""What an action writes to the audit log, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from echomq_console.audit.log import AuditedAction
from echomq_console.model.action import Outcome, Plan
from echomq_console.model.encoding import json_bytes
from echomq_console.model.snapshot import PendingEntry

from .session import Session

ROWS_PER_LINE = 1000


def begin(session: Session, plan: Plan) -> AuditedAction:
    """Write the intent and the rows as they are now, before anything changes. Raises AuditError."""
    target, options = plan.target, plan.options
    audited = session.audit.begin(
        action=plan.action,
        actor=session.actor,
        server=session.address.shown,
        stream=json_bytes(target.stream),
        group=json_bytes(target.group),
        consumer=None if target.consumer is None else json_bytes(target.consumer),
        min_deliveries=target.min_deliveries,
        count=plan.count,
        exact=plan.exact,
        handler=options.handler,
        min_idle_ms=options.min_idle_ms,
        max_attempts=options.max_attempts,
        reason=options.reason if plan.action == "dead-letter" else None,
        commands=list(plan.commands),
        warnings=list(plan.warnings),
    )
    write_before(audited, plan.before)
    return audited


def write_before(audited: AuditedAction, rows: Sequence[PendingEntry]) -> None:
    """Write rows as they are before they change: id, owner, idle, delivery count. Raises AuditError."""
    for at in range(0, len(rows), ROWS_PER_LINE):
        part = rows[at : at + ROWS_PER_LINE]
        audited.write("before", rows=[[str(r.id), json_bytes(r.consumer), r.idle_ms, r.delivery_count] for r in part])


class Before:
    """Writes rows down as they are, just before they change: those the plan had not shown, or showed otherwise."""

    def __init__(self, audited: AuditedAction, shown: Sequence[PendingEntry]) -> None:
        self._audited = audited
        self._known = {row.id: (row.consumer, row.delivery_count) for row in shown}

    def note(self, rows: Sequence[PendingEntry]) -> None:
        """Take a look's rows. Raises AuditError."""
        new = [row for row in rows if self._known.get(row.id) != (row.consumer, row.delivery_count)]
        write_before(self._audited, new)
        self._known |= {row.id: (row.consumer, row.delivery_count) for row in new}


def write_outcome(audited: AuditedAction, outcome: Outcome) -> None:
    """Write how it ended. Raises AuditError."""
    audited.write("outcome", **outcome_document(outcome))


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data, the same in the audit log, in JSON and between processes."""
    return {
        "action": outcome.action,
        "stream": json_bytes(outcome.stream),
        "group": json_bytes(outcome.group),
        "done": outcome.done,
        "failed": outcome.failed,
        "dead_lettered": outcome.dead_lettered,
        "skipped": [[each.id, each.why] for each in outcome.skipped],
        "failures": [[each.id, each.why] for each in outcome.failures],
        "ids": list(outcome.ids),
        "audit_id": outcome.audit_id,
        "seconds": round(outcome.seconds, 3),
        "error": outcome.error,
        "remaining": outcome.remaining,
    }
