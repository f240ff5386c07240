"""One entry in full: every pair, its identity, and where it is in each group."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from echomq_console.model.dead_letter import Provenance
from echomq_console.model.entry import Pairs, branded_id_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.text import duration, harmless, number
from echomq_console.observe.look import Holding, Standing
from echomq_widgets.views import Cell, Line, TextView

from .numbers import ago

VALUE_LIMIT = 4000
"""Characters of a value that are shown; what is longer says how long it is."""


def pairs_text(pairs: Pairs) -> TextView:
    """Every pair, in order, repeated names included; JSON values laid out, everything else as it is, harmless."""
    lines: list[Line] = []
    for name, value in pairs:
        lines.append((Cell(harmless(name, 200), "accent", bold=True), Cell(f"  {_size(value)}", "dim")))
        lines += [(Cell(f"  {line}"),) for line in _value_lines(value)]
    return TextView(tuple(lines) or ((Cell("no fields", "dim"),),))


def whereabouts_text(entry_id: EntryId, pairs: Pairs | None, holdings: Sequence[Holding], now_ms: int) -> TextView:
    """The id taken apart, and how each group of the stream stands to the entry."""
    lines: list[Line] = [(Cell("entry ", "dim"), Cell(str(entry_id), bold=True))]
    branded = branded_id_of(pairs or ())
    if branded is not None:
        lines += [
            (Cell("branded id ", "dim"), Cell(str(branded), bold=True)),
            (Cell("  minted ", "dim"), Cell(_moment(branded.minted_ms, now_ms))),
            (Cell("  node ", "dim"), Cell(str(branded.node)), Cell("  sequence ", "dim"), Cell(str(branded.sequence))),
        ]
        if branded.entry_id != entry_id:
            lines.append((Cell("  its own entry id is ", "dim"), Cell(str(branded.entry_id))))
    else:
        lines.append((Cell("  appended ", "dim"), Cell(_moment(entry_id.ms, now_ms))))
    if pairs is None:
        lines += [(), (Cell("◆ gone from the stream: a pending row without an entry is a ghost", "warn"),)]
    lines += [(), (Cell("where it is now", "dim"),)]
    lines += [line for holding in holdings for line in _holding_lines(holding)]
    if not holdings:
        lines.append((Cell("  no group reads this stream", "dim"),))
    return TextView(tuple(lines))


def provenance_text(entry_id: EntryId, said: Provenance, now_ms: int) -> TextView:
    """Where a dead letter came from."""
    fields = (
        ("dead letter", str(entry_id)),
        ("original entry", str(said.entry_id)),
        ("stream", harmless(said.stream)),
        ("group", harmless(said.group)),
        ("owner then", harmless(said.consumer)),
        ("deliveries", number(said.attempts)),
        ("idle then", duration(said.idle_ms)),
        ("reason", harmless(said.reason, 1000)),
        ("moved by", harmless(said.by)),
        ("moved", _moment(said.at_ms, now_ms)),
    )
    return TextView(tuple((Cell(f"{name}  ", "dim"), Cell(value)) for name, value in fields))


def _holding_lines(holding: Holding) -> list[Line]:
    group = harmless(holding.group, 60)
    if holding.row is None:
        waits = holding.standing is Standing.NOT_DELIVERED
        sign = Cell("  ○ ", "dim") if waits else Cell("  ● ", "good")
        return [(sign, Cell(group, bold=True), Cell(f"  {holding.standing.value}"))]
    row = holding.row
    return [
        (Cell("  ▲ ", "warn"), Cell(group, bold=True), Cell(f"  pending with {harmless(row.consumer, 60)}")),
        (
            Cell(
                f"      idle {duration(row.idle_ms)}, delivered {number(row.delivery_count)} "
                f"{'time' if row.delivery_count == 1 else 'times'}",
                "dim",
            ),
        ),
    ]


def _value_lines(value: bytes) -> list[str]:
    laid_out = _json_lines(value) if len(value) <= 256 * 1024 else None
    if laid_out is not None:
        return laid_out
    text = harmless(value, VALUE_LIMIT)
    cut = f" ({number(len(value))} bytes in all)" if text.endswith("…") else ""
    return [text + cut]


def _json_lines(value: bytes) -> list[str] | None:
    """Lay JSON out, every line made harmless; None for anything that is no object or array."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict | list):
        return None
    lines = json.dumps(parsed, indent=2, ensure_ascii=False).split("\n")[:400]
    return [" " * (len(line) - len(line.lstrip(" "))) + harmless(line.lstrip(" "), 1000) for line in lines]


def _size(value: bytes) -> str:
    return f"{number(len(value))} {'byte' if len(value) == 1 else 'bytes'}"


def _moment(unix_ms: int, now_ms: int) -> str:
    try:
        text = datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{unix_ms} ms (no moment a calendar knows)"
    return f"{text}, {ago(now_ms, unix_ms)}"
