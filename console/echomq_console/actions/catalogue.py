"""The actions there are: one entry each, the same for the app, the commands and the notebook to come."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from echomq_console.model.action import Options, Plan, Target

from .plan_autoclaim import plan_autoclaim
from .plan_dead_letter import plan_dead_letter
from .plan_drain import plan_drain
from .session import ActionRefused, Session

Planner = Callable[[Session, Target, Options], Awaitable[Plan]]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing an operator can do. `writes`: read-only strips it. `needs_handler`: entries are processed here."""

    name: str
    title: str
    plan: Planner
    needs_handler: bool
    writes: bool = True


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("drain", "Drain", plan_drain, needs_handler=True),
        Action("autoclaim", "Autoclaim", plan_autoclaim, needs_handler=True),
        Action("dead-letter", "Dead-letter", plan_dead_letter, needs_handler=False),
    )
}


async def plan_action(session: Session, name: str, target: Target, options: Options) -> Plan:
    """Make the dry run of an action: it only looks. Raises ActionRefused or a ServerError."""
    action = ACTIONS.get(name)
    if action is None:
        raise ActionRefused(f"no action {name!r} (there are: {', '.join(ACTIONS)})")
    _require_sense(options)
    plan = await action.plan(session, target, options)
    return replace(plan, looked_at=time.monotonic())


def _require_sense(options: Options) -> None:
    """Refuse numbers that no run could take, before an intent is written down."""
    if options.batch < 1:
        raise ActionRefused("a batch holds at least 1 entry")
    if options.min_idle_ms is not None and options.min_idle_ms < 0:
        raise ActionRefused("min-idle is 0 or longer")
    if options.max_attempts is not None and options.max_attempts < 1:
        raise ActionRefused("max-attempts is at least 1: a handler runs once before an entry is given up")
