"""One group's own lines: what it is, how it is, and the tabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from echomq_console.diagnosis import health_of
from echomq_console.model.finding import Finding
from echomq_console.model.snapshot import GroupState
from echomq_console.model.text import harmless, number
from echomq_widgets.views import Cell, HeaderView

from .names import group_label
from .numbers import ago
from .states import health_sign

_TABS = {"consumers": "Consumers", "pending": "Pending", "dead": "Dead letters", "findings": "Findings"}


def group_header(
    key: tuple[bytes, bytes], group: GroupState | None, findings: Sequence[Finding], now_ms: int
) -> HeaderView:
    """`‹ orders/events › billing   ▲ stuck · pending 1,204 · lag 0 · delivered up to 1769526697641-0 (2s ago)`."""
    left = (Cell(" ‹ ", "dim"), Cell(group_label(*key), bold=True))
    if group is None:
        return HeaderView(left, (Cell("✕ this group is not on the server any more ", "bad", bold=True),))
    sign = health_sign(health_of(findings, group), findings)
    lag = "?" if group.lag is None else number(group.lag)
    last = group.last_delivered_id
    delivered = f" · delivered up to {last}" + (f" ({ago(now_ms, last.ms)})" if 0 < last.ms <= now_ms else "")
    return HeaderView(
        left,
        (
            Cell(f"{delivered.removeprefix(' · ')} · ", "dim"),
            Cell(f"lag {lag} · "),
            Cell(f"pending {number(group.pending)} · "),
            sign.cell(),
            Cell(" "),
        ),
    )


def tabs_line(chosen: str, counts: Mapping[str, int | None], consumer: bytes | None) -> HeaderView:
    """The tabs with their numbers; the chosen one in brackets, so that it shows without colour."""
    cells: list[Cell] = []
    for index, (name, title) in enumerate(_TABS.items(), 1):
        count = counts.get(name)
        words = f"{title} {number(count)}" if count else title
        shown = f"[{words}]" if name == chosen else f" {words} "
        cells += [Cell(f" {index}", "dim"), Cell(shown, "accent" if name == chosen else "plain", bold=name == chosen)]
    right: tuple[Cell, ...] = ()
    if chosen == "pending" and consumer is not None:
        right = (Cell("Esc: everybody · ", "warn"), Cell(f"only {harmless(consumer, 40)} ", "warn"))
    return HeaderView(tuple(cells), right)
