"""A group's consumers, and what its pending list looks like."""

from __future__ import annotations

from echomq_console.diagnosis import condition_of
from echomq_console.model.buckets import DELIVERY_LABELS, IDLE_LABELS
from echomq_console.model.finding import ConsumerCondition, Thresholds
from echomq_console.model.snapshot import ConsumerState, GroupState, HeldRows, Snapshot
from echomq_console.model.text import harmless, number
from echomq_widgets.views import Bar, Cell, Column, HistogramView, Row, TableView

from .names import name_text, words
from .numbers import UNKNOWN, age_cell, count_cell
from .states import condition_sign

COLUMNS = (
    Column("name", "consumer", 16, flex=True),
    Column("state", "state", 10),
    Column("holds", "holds", 8, "right"),
    Column("oldest", "oldest held", 11, "right"),
    Column("deliveries", "deliv ≤", 7, "right", drop=2),
    Column("tried", "last tried", 10, "right"),
    Column("got", "last got", 10, "right", drop=3),
    Column("connection", "connection", 21, drop=4),
)
_WORST = (
    ConsumerCondition.GONE,
    ConsumerCondition.SILENT,
    ConsumerCondition.UNKNOWN,
    ConsumerCondition.READING,
    ConsumerCondition.QUIET,
)


def consumers_view(snapshot: Snapshot, group: GroupState, thresholds: Thresholds) -> TableView:
    """The table of a group's consumers: those not seen first, then by what they hold."""
    now_ms = snapshot.taken_at_ms
    known = [(condition_of(c, group, thresholds, now_ms=now_ms), c) for c in group.consumers]
    known.sort(key=lambda pair: (_WORST.index(pair[0]), -pair[1].pending, pair[1].name))
    rows = tuple(_row(consumer, condition, _held(group, consumer), now_ms, thresholds) for condition, consumer in known)
    empty = words(group.problem or "no consumer ever read through this group")
    return TableView(COLUMNS, rows, empty=(Cell(empty, "dim"),))


def idle_histogram(group: GroupState, thresholds: Thresholds) -> HistogramView | None:
    """How long the pending rows have been idle; None where nothing was looked at."""
    scan = group.scan
    if scan is None:
        return None
    tones = ["bad" if low >= thresholds.job_ms else "accent" for low in (0, 1_000, 60_000, 300_000, 3_600_000)]
    bars = tuple(
        Bar(label, value, "bad" if tone == "bad" else "accent")
        for label, value, tone in zip(IDLE_LABELS, scan.idle_buckets, tones, strict=True)
    )
    return HistogramView(f"idle of {_looked_at(group)}", bars)


def delivery_histogram(group: GroupState, thresholds: Thresholds) -> HistogramView | None:
    """How often the pending rows were delivered; None where nothing was looked at."""
    scan = group.scan
    if scan is None:
        return None
    bars = tuple(
        Bar(label, value, "bad" if least >= thresholds.poison_deliveries else "accent")
        for label, value, least in zip(DELIVERY_LABELS, scan.delivery_buckets, (1, 2, 3, 6), strict=True)
    )
    return HistogramView(f"deliveries of {_looked_at(group)}", bars)


def _looked_at(group: GroupState) -> str:
    assert group.scan is not None
    if group.scan.complete:
        return f"the {number(group.scan.rows)} pending"
    return f"{number(group.scan.rows)} of {number(group.scan.total)} pending"


def _held(group: GroupState, consumer: ConsumerState) -> HeldRows | None:
    return None if group.scan is None else group.scan.held.get(consumer.name)


def _row(
    consumer: ConsumerState,
    condition: ConsumerCondition,
    held: HeldRows | None,
    now_ms: int,
    thresholds: Thresholds,
) -> Row:
    oldest = None if held is None else max(0, now_ms - held.oldest_delivery_ms)
    often = held is not None and held.max_delivery_count >= thresholds.poison_deliveries
    nothing = Cell("–", "dim")
    cells = (
        Cell(name_text(consumer.name), bold=condition is ConsumerCondition.GONE),
        condition_sign(condition).cell(),
        count_cell(consumer.pending),
        nothing
        if consumer.pending == 0
        else age_cell(oldest, "bad" if oldest is not None and oldest >= thresholds.job_ms else "plain"),
        nothing
        if consumer.pending == 0
        else count_cell(None if held is None else held.max_delivery_count, "bad" if often else "plain"),
        age_cell(consumer.idle_ms) if consumer.idle_is_last_try else UNKNOWN,
        _got_cell(consumer),
        UNKNOWN if consumer.connections is None else Cell(harmless(", ".join(consumer.connections), 60), "dim"),
    )
    return Row(consumer.name, cells)


def _got_cell(consumer: ConsumerState) -> Cell:
    if not consumer.idle_is_last_try:
        return age_cell(consumer.idle_ms)
    return Cell("never", "dim") if consumer.inactive_ms is None else age_cell(consumer.inactive_ms)
