"""`audit`: what was done from here, by whom, when, to which entries, and how it ended."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import Misused
from .options import JsonOption, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from echomq_widgets.views import TableView


def audit(
    audit_id: Annotated[str | None, typer.Argument(metavar="ID", help="One action in full.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The latest N actions.")] = 50,
    as_json: JsonOption = False,
) -> Work:
    """List what was done from here, the latest first, or one action in full. Payloads are never recorded."""
    return partial(_audit, audit_id, limit, as_json)


def _audit(audit_id: str | None, limit: int, as_json: bool) -> int:
    from echomq_console.audit.log import AuditLog
    from echomq_console.present.documents import document

    from .printing import Printer
    from .records import read_actions

    log = AuditLog()
    actions = read_actions(log.lines())
    if audit_id is not None:
        actions = [action for action in actions if action["audit_id"] == audit_id]
        if not actions:
            raise Misused(f"no action {audit_id} in {log.path}: `echomq-console audit` lists them")
    else:
        actions = actions[:limit]
    printer = Printer()
    if as_json:
        said = actions if audit_id is not None else [_without_entries(action) for action in actions]
        printer.json(document("audit", None, int(time.time() * 1000), audit=said))
    elif audit_id is not None:
        _print_in_full(printer, actions[0])
    else:
        printer.table(_table(actions, str(log.path)))
    return 0


def _without_entries(action: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in action.items() if name not in ("before", "ids", "failures", "skipped")}


def _table(actions: Sequence[dict[str, Any]], path: str) -> TableView:
    from echomq_console.model.text import harmless
    from echomq_widgets.views import Cell, Column, Row, TableView

    columns = (
        Column("at", "at", 20),
        Column("id", "audit id", 20),
        Column("action", "action", 11),
        Column("target", "stream › group", 22, flex=True),
        Column("done", "done", 6, "right"),
        Column("failed", "failed", 6, "right"),
        Column("by", "by", 16, drop=2),
        Column("how", "ended", 12, drop=1),
    )
    rows = tuple(
        Row(
            action["audit_id"],
            (
                Cell(harmless(str(action["at"])[:19])),
                Cell(harmless(action["audit_id"])),
                Cell(harmless(str(action["action"]))),
                Cell(f"{_name(action['stream'])} › {_name(action['group'])}"),
                Cell(_count(action["done"])),
                Cell(_count(action["failed"]), "bad" if action["failed"] else "plain"),
                Cell(harmless(str(action["actor"])), "dim"),
                Cell(_how(action)),
            ),
        )
        for action in actions
    )
    return TableView(columns, rows, empty=(Cell(f"nothing was done from here yet ({path})", "dim"),))


def _print_in_full(printer: Any, action: dict[str, Any]) -> None:
    from echomq_console.model.text import harmless

    for name in ("audit_id", "at", "actor", "server", "action", "handler", "reason", "min_idle_ms", "max_attempts"):
        if action[name] is not None:
            printer.say(f"{name:13} {harmless(str(action[name]))}")
    target = (action["stream"], action["group"], *([action["consumer"]] if action["consumer"] is not None else []))
    printer.say(f"{'target':13} {' › '.join(map(_name, target))}")
    printer.say(f"{'ended':13} {_how(action)}")
    for name in ("count", "done", "failed", "dead_lettered"):
        printer.say(f"{name:13} {_count(action[name])}")
    for command in action["commands"]:
        printer.say(f"  $ {harmless(command)}", "info")
    for warning in action["warnings"]:
        printer.say(f"  ⚠ {harmless(warning)}", "warn")
    fates = {**dict.fromkeys(action["ids"], "done"), **{each: f"failed: {why}" for each, why in action["failures"]}}
    fates |= {each: f"left alone: {why}" for each, why in action["skipped"]}
    before = {row["id"]: row for row in action["before"]}
    for entry_id in sorted({*before, *fates}):
        row = before.get(entry_id)
        was = "" if row is None else f"  was {_name(row['consumer'])}'s, delivered {row['delivery_count']}x"
        printer.say(f"  {harmless(entry_id)}{was}  {harmless(fates.get(entry_id, 'not recorded as settled'))}")


def _how(action: dict[str, Any]) -> str:
    from echomq_console.model.text import harmless

    if action["done"] is None:
        return "cut off"
    if action["error"]:
        return f"early: {harmless(str(action['error']), 120)}"
    remaining = action["remaining"]
    return f"stopped: {harmless(str(remaining), 200)}" if remaining else "to its end"


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "?"


def _name(said: object) -> str:
    from echomq_console.model.encoding import bytes_of_json
    from echomq_console.model.text import harmless

    try:
        return harmless(bytes_of_json(said), 120)
    except ValueError:
        return "?"
