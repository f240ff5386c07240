"""Reading the audit log: its lines put together into actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_INTENT = (
    *("at", "actor", "server", "action", "stream", "group", "consumer", "count", "exact", "handler"),
    *("min_idle_ms", "max_attempts", "reason"),
)
_COUNTS = ("done", "failed", "dead_lettered", "seconds", "error", "remaining")


def read_actions(lines: Iterable[object]) -> list[dict[str, Any]]:
    """Put the lines of each action together, the latest action first.

    `done` is None where no outcome was recorded: the run was cut off, or is still going on. Lines that make no sense
    are passed over: a log may have been edited.
    """
    actions: dict[str, dict[str, Any]] = {}
    for line in lines:
        if not isinstance(line, dict) or not isinstance(audit_id := line.get("audit_id"), str):
            continue
        if line.get("event") == "intent":
            actions[audit_id] = _begun(audit_id, line)
        elif audit_id in actions:
            _add(actions[audit_id], line)
    return list(reversed(actions.values()))


def _begun(audit_id: str, line: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit_id": audit_id,
        **{name: line.get(name) for name in _INTENT},
        "commands": _list(line.get("commands")),
        "warnings": _list(line.get("warnings")),
        **dict.fromkeys(_COUNTS),
        "before": [],
        "ids": [],
        "failures": [],
        "skipped": [],
    }


def _add(action: dict[str, Any], line: dict[str, Any]) -> None:
    if line.get("event") == "before":
        action["before"] += [
            dict(zip(("id", "consumer", "idle_ms", "delivery_count"), row, strict=False))
            for row in _list(line.get("rows"))
        ]
    elif line.get("event") == "outcome":
        action |= {name: line.get(name) for name in _COUNTS}
        action |= {name: _list(line.get(name)) for name in ("ids", "failures", "skipped")}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
