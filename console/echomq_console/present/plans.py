"""Plans and outcomes in words."""

from __future__ import annotations

from echomq_console.model.action import Outcome, Plan, Progress
from echomq_console.model.text import harmless, number
from echomq_widgets.views import Cell, Line, PlanView, ProgressView, TableView

from .names import command_text, group_label, words
from .pending import pending_view

TITLES = {"drain": "Drain", "autoclaim": "Autoclaim", "dead-letter": "Dead-letter"}


def plan_view(plan: Plan, *, needs_handler: bool = False) -> PlanView:
    """A plan, ready to be shown and confirmed."""
    title = TITLES.get(plan.action, plan.action)
    if plan.target.consumer is not None:
        title = f"{title} {harmless(plan.target.consumer, 60)}"
    summary: list[Line] = [(Cell(line),) for line in plan.effects]
    if plan.untouched:
        summary.append((Cell(f"Not touched: {'; '.join(plan.untouched)}.", "dim"),))
    return PlanView(
        title=title,
        target=group_label(plan.target.stream, plan.target.group),
        summary=tuple(summary),
        warnings=plan.warnings,
        reassurances=plan.reassurances,
        commands=tuple(map(command_text, plan.commands)),
        sample=_sample(plan),
        count=plan.count,
        ask="count" if plan.needs_count else "confirm",
        refusal=plan.refusal,
        handler=(plan.options.handler or "") if needs_handler else None,
    )


def progress_view(plan: Plan, progress: Progress, log: tuple[str, ...] = ()) -> ProgressView:
    """How far a run has come."""
    settled = progress.done + progress.dead_lettered + progress.failed + progress.skipped
    counts = (
        Cell(f"{number(progress.done)} ok", "good"),
        Cell("   "),
        Cell(f"{number(progress.failed)} failed", "bad" if progress.failed else "dim"),
        Cell("   "),
        Cell(f"{number(progress.dead_lettered)} dead-lettered", "warn" if progress.dead_lettered else "dim"),
        Cell("   "),
        Cell(f"{number(progress.skipped)} gone meanwhile", "dim"),
    )
    return ProgressView(
        title=TITLES.get(plan.action, plan.action),
        target=group_label(plan.target.stream, plan.target.group),
        done=settled,
        total=max(plan.count, settled),
        counts=counts,
        log=tuple((Cell(words(line), "dim"),) for line in log),
    )


def outcome_lines(outcome: Outcome) -> tuple[Line, ...]:
    """What an action did, in a few lines; the audit id last."""
    verb = "moved to the dead letters" if outcome.action == "dead-letter" else "processed and acknowledged"
    lines: list[Line] = [
        (
            Cell("✓ ", "good")
            if not outcome.error and not outcome.failed and not outcome.remaining
            else Cell("◆ ", "warn"),
            Cell(f"{_entries(outcome.done)} {verb}", bold=True),
        )
    ]
    if outcome.dead_lettered and outcome.action != "dead-letter":
        lines.append((Cell(f"  {_entries(outcome.dead_lettered)} moved to the dead letters", "warn"),))
    if outcome.failed:
        first = outcome.failures[0] if outcome.failures else None
        reason = f": {first.id} said “{harmless(first.why, 120)}”" if first else ""
        lines.append((Cell(f"  {_entries(outcome.failed)} failed, still pending{reason}", "bad"),))
    if outcome.skipped:
        left = outcome.skipped[0]
        why = harmless(left.why, 200)
        lines.append((Cell(f"  {_entries(len(outcome.skipped))} left alone: {left.id} {why}", "dim"),))
    if outcome.error:
        lines.append((Cell("  ended early: ", "bad", bold=True), Cell(words(outcome.error), "bad")))
    if outcome.remaining:
        lines.append((Cell(f"  stopped: {words(outcome.remaining)}", "warn"),))
    lines.append((Cell(f"  audit {outcome.audit_id}", "dim"),))
    return tuple(lines)


def _sample(plan: Plan) -> TableView | None:
    if not plan.sample:
        return None
    table = pending_view(plan.sample, {}, 0, len(plan.sample))
    wanted = ("entry", "owner", "idle", "deliveries")
    places = [i for i, column in enumerate(table.columns) if column.key in wanted]
    return TableView(
        columns=tuple(table.columns[i] for i in places),
        rows=tuple(type(row)(row.key, tuple(row.cells[i] for i in places)) for row in table.rows),
        total=plan.count,
    )


def _entries(count: int) -> str:
    return f"{number(count)} {'entry' if count == 1 else 'entries'}"
