"""The opening screen: every group, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from echomq_console.diagnosis import condition_of, health_of
from echomq_console.model.finding import ConsumerCondition, Finding, Health, Thresholds
from echomq_console.model.snapshot import GroupState, Snapshot, StreamState
from echomq_console.model.text import duration
from echomq_console.observe.history import GroupRates, History
from echomq_widgets.sparkline import spark
from echomq_widgets.views import Cell, Column, Line, Row, TableView

from .names import group_label, stream_label
from .numbers import UNKNOWN, age_cell, count_cell, rate_cell
from .states import ORDER, health_sign

GroupKey = tuple[bytes, bytes]

COLUMNS = (
    Column("health", "health", 9, sortable=True),
    Column("group", "stream › group", 22, flex=True, sortable=True),
    Column("lag", "lag", 7, "right", drop=3, sortable=True),
    Column("pending", "pending", 7, "right", sortable=True),
    Column("idle", "longest idle", 12, "right", sortable=True),
    Column("deliveries", "deliv", 5, "right", sortable=True),
    Column("consumers", "consumers", 13, drop=1),
    Column("in", "in/s", 5, "right", drop=5, sortable=True),
    Column("acked", "ack/s", 5, "right", drop=4, sortable=True),
    Column("trend", "pending", 8, drop=6),
)
TREND = 8


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group with everything its row shows."""

    stream: StreamState
    group: GroupState
    health: Health
    findings: tuple[Finding, ...]
    rates: GroupRates
    trend: tuple[float | None, ...]
    now_ms: int

    @property
    def key(self) -> GroupKey:
        """The stream and the group's name."""
        return self.group.key


def group_lines(
    snapshot: Snapshot, findings: Sequence[Finding], history: History | None = None
) -> tuple[GroupLine, ...]:
    """Put everything about each group together, worst first, and within a health by longest idle."""
    by_group: dict[GroupKey, list[Finding]] = {}
    for finding in findings:
        by_group.setdefault((finding.stream, finding.group), []).append(finding)
    unknown = GroupRates(None, None, None)
    lines = []
    for stream, group in snapshot.groups():
        own = tuple(by_group.get(group.key, ()))
        lines.append(
            GroupLine(
                stream,
                group,
                health_of(own, group),
                own,
                unknown if history is None else history.rates(group.key),
                () if history is None else history.series(group.key, "pending", TREND),
                snapshot.taken_at_ms,
            )
        )
    return tuple(sorted(lines, key=_worst_first))


def groups_view(
    snapshot: Snapshot,
    findings: Sequence[Finding],
    history: History | None = None,
    *,
    thresholds: Thresholds | None = None,
    sort: str | None = None,
    descending: bool = True,
    keep: Callable[[GroupLine], bool] | None = None,
) -> TableView:
    """The table of all groups. `sort`: a column's key; else worst first. `keep`: which groups to show."""
    lines: Iterable[GroupLine] = group_lines(snapshot, findings, history)
    if keep is not None:
        lines = filter(keep, lines)
    if sort in _SORTS:
        lines = sorted(lines, key=_SORTS[sort], reverse=descending)
    limits = thresholds or Thresholds()
    rows = tuple(_row(line, limits) for line in lines)
    empty = (
        "no streams here yet" if not snapshot.streams else "no consumer groups: nobody reads these streams in groups"
    )
    if keep is not None and any(True for _ in snapshot.groups()):
        empty = "no group matches the filter"
    return TableView(COLUMNS, rows, sort=sort, descending=descending, empty=(Cell(empty, "dim"),))


def summary_line(snapshot: Snapshot, findings: Sequence[Finding]) -> Line:
    """`12 groups · 7 streams   ▲ 2 stuck  ● 9 well`."""
    lines = group_lines(snapshot, findings)
    counts = Counter(line.health for line in lines)
    groups, streams = len(lines), len(snapshot.streams)
    cells = [
        Cell(f"{groups} {'group' if groups == 1 else 'groups'} · {streams} {'stream' if streams == 1 else 'streams'}"),
    ]
    for health in ORDER:
        if counts[health]:
            sign = health_sign(health)
            cells.append(Cell(f"   {sign.sign} {counts[health]} {sign.word}", sign.tone, bold=sign.tone == "bad"))
    if snapshot.vanished:
        latest = snapshot.vanished[0]
        ago = duration(snapshot.taken_at_ms - latest.at_ms)
        cells.append(Cell(f"   ✕ {len(snapshot.vanished)} vanished, the last {ago} ago", "warn", bold=True))
    return tuple(cells)


def vanished_lines(snapshot: Snapshot, most: int = 20) -> tuple[Line, ...]:
    """The groups, and streams without groups, that were here and are not any more: each by name."""
    gone = snapshot.vanished
    with_groups = {each.stream for each in gone if each.group is not None}
    named = [each for each in gone if each.group is not None or each.stream not in with_groups]
    lines: list[Line] = [(Cell(f"✕ {len(named)} gone from this server:", "warn", bold=True),)]
    for each in named[:most]:
        name = stream_label(each.stream) if each.group is None else group_label(each.stream, each.group)
        lines.append((Cell(f"  {name}"), Cell(f"  {duration(snapshot.taken_at_ms - each.at_ms)} ago", "dim")))
    if len(named) > most:
        lines.append((Cell(f"  and {len(named) - most} more", "dim"),))
    return tuple(lines)


def _row(line: GroupLine, thresholds: Thresholds) -> Row:
    group = line.group
    idle = group.longest_idle_ms(line.now_ms)
    deliveries = group.max_delivery_count
    overdue = idle is not None and idle >= thresholds.job_ms
    often = deliveries is not None and deliveries >= thresholds.poison_deliveries
    cells = (
        health_sign(line.health, line.findings).cell(),
        Cell(group_label(*group.key), bold=line.health is Health.CRITICAL),
        _lag_cell(group),
        count_cell(group.pending),
        age_cell(idle, "bad" if overdue else "plain"),
        count_cell(deliveries, "bad" if often else "plain"),
        consumers_cell(group, thresholds, line.now_ms),
        rate_cell(line.rates.in_per_s),
        rate_cell(line.rates.acked_per_s),
        Cell(spark(line.trend, TREND, low=0), "warn" if _rises(line.trend) else "dim"),
    )
    return Row(group.key, cells)


def consumers_cell(group: GroupState, thresholds: Thresholds, now_ms: int) -> Cell:
    """`2 reading ✕1`: how many read, and how many are not seen."""
    if group.problem is not None and not group.consumers:
        return UNKNOWN
    if not group.consumers:
        return Cell("none", "dim")
    found = Counter(condition_of(c, group, thresholds, now_ms=now_ms) for c in group.consumers)
    gone = found[ConsumerCondition.GONE] + found[ConsumerCondition.SILENT]
    text = f"{found[ConsumerCondition.READING]} reading"
    return Cell(f"{text} ✕{gone}", "bad") if gone else Cell(text)


def _rises(trend: Sequence[float | None]) -> bool:
    """Whether a list has grown by half, and by more than the coming and going of a few entries."""
    known = [value for value in trend if value is not None]
    return len(known) > 2 and known[-1] > known[0] * 1.5 and known[-1] - known[0] > 10


def _lag_cell(group: GroupState) -> Cell:
    return count_cell(group.lag, "warn" if group.lag and group.lag > 1000 else "plain")


def _worst_first(line: GroupLine) -> tuple[int, int, bytes, bytes]:
    """Among groups that are well the names decide: their idle times come and go, and rows must not dance."""
    idle = 0 if line.health is Health.WELL else line.group.longest_idle_ms(line.now_ms) or 0
    return ORDER.index(line.health), -idle, *line.key


def _known(value: float | None) -> float:
    """What is unknown sorts below everything known."""
    return -1.0 if value is None else float(value)


_SORTS: dict[str | None, Callable[[GroupLine], Any]] = {
    "health": lambda line: -ORDER.index(line.health),
    "group": lambda line: line.key,
    "lag": lambda line: _known(line.group.lag),
    "pending": lambda line: line.group.pending,
    "idle": lambda line: _known(line.group.longest_idle_ms(line.now_ms)),
    "deliveries": lambda line: _known(line.group.max_delivery_count),
    "in": lambda line: _known(line.rates.in_per_s),
    "acked": lambda line: _known(line.rates.acked_per_s),
}
