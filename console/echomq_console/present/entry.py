"""One entry in full: every pair, its identity, and where it is in each group."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from echomq_console.model.dead_letter import Provenance
from echomq_console.model.entry import Pairs, branded_id_of
from echomq_console.model.entry_id import EntryId
from echomq_console.model.text import harmless, number
from echomq_console.observe.look import Holding, Standing
from echomq_widgets.views import Cell, Line, TextView

from .json_layout import laid_out
from .names import name_text
from .numbers import ago, short_number, span

FIELDS = 1000
"""Fields that are shown; that there are more is said."""

JSON_LINES = 400
"""Lines of a JSON value that are shown; that there are more is said."""

VALUE_LIMIT = 4000
"""Characters of a value that are shown; what is longer says how long it is."""


def pairs_text(pairs: Pairs) -> TextView:
    """Every pair, in order, repeated names included; JSON values laid out, everything else as it is, harmless."""
    lines: list[Line] = []
    for name, value in pairs[:FIELDS]:
        lines.append((Cell(harmless(name, 200), "accent", bold=True), Cell(f"  {_size(value)}", "dim")))
        lines += [(Cell(f"  {line}"),) for line in _value_lines(value)]
    if len(pairs) > FIELDS:
        lines.append((Cell(f"… and {number(len(pairs) - FIELDS)} more fields", "dim"),))
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
        ("stream", name_text(said.stream)),
        ("group", name_text(said.group)),
        ("owner then", name_text(said.consumer)),
        ("deliveries", short_number(said.attempts)),
        ("idle then", span(said.idle_ms)),
        ("reason", harmless(said.reason, 1000)),
        ("moved by", name_text(said.by)),
        ("moved", _moment(said.at_ms, now_ms)),
    )
    return TextView(tuple((Cell(f"{name}  ", "dim"), Cell(value)) for name, value in fields))


def _holding_lines(holding: Holding) -> list[Line]:
    group = name_text(holding.group)
    if holding.row is None:
        waits = holding.standing is Standing.NOT_DELIVERED
        sign = Cell("  ○ ", "dim") if waits else Cell("  ● ", "good")
        return [(sign, Cell(group, bold=True), Cell(f"  {holding.standing.value}"))]
    row = holding.row
    return [
        (Cell("  ▲ ", "warn"), Cell(group, bold=True), Cell(f"  pending with {name_text(row.consumer)}")),
        (
            Cell(
                f"      idle {span(row.idle_ms)}, delivered {short_number(row.delivery_count)} "
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
    """Lay JSON out, every line made harmless; None for anything that is no object or array.

    Only the space between the tokens changes: repeated keys stay, and numbers are spelled as they came.
    """
    try:
        text = value.decode("utf-8")
        if not isinstance(json.loads(text), dict | list):
            return None
    except (ValueError, RecursionError):
        return None
    lines = [f"{'  ' * depth}{harmless(line, 1000)}" for depth, line in islice(laid_out(text), JSON_LINES + 1)]
    return lines if len(lines) <= JSON_LINES else [*lines[:-1], f"… (cut: {number(len(value))} bytes in all)"]


def _size(value: bytes) -> str:
    return f"{number(len(value))} {'byte' if len(value) == 1 else 'bytes'}"


def _moment(unix_ms: int, now_ms: int) -> str:
    try:
        text = datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{short_number(unix_ms)} ms (no moment a calendar knows)"
    return f"{text}, {ago(now_ms, unix_ms)}"
