"""The one way to carry out a confirmed plan from a face that must not be touched by a handler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from echomq_console.model.action import Outcome, Plan

from .catalogue import ACTIONS
from .session import Session
from .tally import OnProgress


async def run_plan(
    session: Session,
    plan: Plan,
    *,
    on_progress: OnProgress | None = None,
    on_audit: Callable[[str], None] | None = None,
    stop: asyncio.Event | None = None,
) -> Outcome:
    """Carry out a plan: in a child process where a handler is needed, here where not.

    Raises ActionRefused or AuditError where nothing was changed.
    """
    if ACTIONS[plan.action].needs_handler:
        from .child import run_in_child

        return await run_in_child(session, plan, on_progress=on_progress, on_audit=on_audit, stop=stop)
    from .running import run_here

    return await run_here(session, plan, on_progress=on_progress, on_audit=on_audit, stop=stop)
