"""Plans, progress and outcomes in words."""

from __future__ import annotations

from dataclasses import replace

from echomq_console.model.action import Options, Outcome, Plan, Progress, Skipped, Target
from echomq_console.model.entry_id import EntryId
from echomq_console.model.snapshot import PendingEntry
from echomq_console.present.plans import outcome_lines, plan_view, progress_view

from .conftest import texts

PLAN = Plan(
    action="drain",
    target=Target(b"emq:{orders}:stream:events", b"billing", b"web-1"),
    options=Options(handler="billing:handle"),
    actor="ana@bastion",
    count=1_204,
    exact=True,
    sample=(PendingEntry(EntryId(5, 0), b"web-1", 400_000, 2),),
    owners={b"web-1": 1_204},
    effects=("1,204 entries of web-1 are processed here",),
    untouched=("3 entries of other consumers", "1 of web-1"),
    reassurances=("min-idle is T",),
    warnings=("delivered often",),
    commands=("XACK orders billing <id>",),
    needs_count=True,
)
OUTCOME = Outcome("drain", b"s", b"g", 5, 0, 0, ("1-0",), (), (), "20260127-151137-ab12", 0.5)


def test_a_plan_shows_all_it_says() -> None:
    view = plan_view(PLAN, needs_handler=True)
    assert view.title == "Drain web-1"
    assert view.target == "orders/events › billing"
    assert [line[0].text for line in view.summary] == [
        "1,204 entries of web-1 are processed here",
        "Not touched: 3 entries of other consumers; 1 of web-1.",
    ]
    assert (view.warnings, view.reassurances, view.commands) == (PLAN.warnings, PLAN.reassurances, PLAN.commands)
    assert (view.count, view.ask, view.refusal, view.handler) == (1_204, "count", None, "billing:handle")
    assert view.sample is not None
    assert [column.key for column in view.sample.columns] == ["entry", "owner", "idle", "deliveries"]
    assert [cell.text for cell in view.sample.rows[0].cells] == ["5-0", "web-1", "6m 40s", "2"]
    assert view.sample.total == 1_204


def test_a_plan_that_needs_no_number() -> None:
    view = plan_view(replace(PLAN, needs_count=False, sample=(), untouched=(), refusal="not now"))
    assert (view.ask, view.sample, view.refusal, view.handler) == ("confirm", None, "not now", None)
    assert len(view.summary) == 1


def test_progress_is_never_past_its_end() -> None:
    view = progress_view(PLAN, Progress(1_000, 200, 3, 4, 1_204), ("1-0  ok",))
    assert (view.done, view.total) == (1_207, 1_207)
    assert "1,000 ok" in [cell.text for cell in view.counts]
    assert "200 failed" in [cell.text for cell in view.counts]
    assert [line[0].text for line in view.log] == ["1-0  ok"]


def test_an_outcome_that_went_well() -> None:
    lines = outcome_lines(OUTCOME)
    assert "".join(cell.text for cell in lines[0]) == "✓ 5 entries processed and acknowledged"
    assert lines[0][0].tone == "good"
    assert lines[-1][0].text == "  audit 20260127-151137-ab12"
    assert len(lines) == 2


def test_an_outcome_that_did_not() -> None:
    outcome = replace(
        OUTCOME,
        done=1,
        failed=2,
        dead_lettered=1,
        failures=(Skipped("2-0", "card declined"), Skipped("3-0", "x")),
        skipped=(Skipped("4-0", "changed: now web-2's"),),
        error="the connection was lost",
    )
    text = "\n".join("".join(cell.text for cell in line) for line in outcome_lines(outcome))
    assert text.startswith("◆ 1 entry processed and acknowledged")
    assert "1 entry moved to the dead letters" in text
    assert "2 entries failed, still pending: 2-0 said “card declined”" in text
    assert "1 entry left alone: 4-0 changed: now web-2's" in text
    assert "ended early: the connection was lost" in text


def test_failures_alone_are_no_good_news() -> None:
    first = outcome_lines(replace(OUTCOME, failed=1, failures=(Skipped("2-0", "x"),)))[0][0]
    assert (first.text, first.tone) == ("◆ ", "warn")


def test_a_move_is_said_once() -> None:
    outcome = replace(OUTCOME, action="dead-letter", done=2, dead_lettered=2)
    said = list(texts(outcome_lines(outcome)))
    assert sum("moved to the dead letters" in text for text in said) == 1
    assert "2 entries moved to the dead letters" in said
