"""What was confirmed, and no more: between a plan and its run, time passes and entries grow old."""

from __future__ import annotations

import time

from echomq_console.model.action import Plan

from .session import Session

SLACK_MS = 100
"""What the server's counting of idle time and this process's clock may differ by."""


def confirmed_idle_ms(session: Session, plan: Plan) -> int:
    """How long an entry must have been idle by now to have been in the plan.

    What the plan showed goes on being idle, unless somebody touches it; what reached the threshold after the look was
    shown to nobody, and is left alone.
    """
    given = plan.options.min_idle_ms
    planned = session.thresholds.job_ms if given is None else given
    if plan.looked_at is None:
        return planned
    return planned + max(0, round((time.monotonic() - plan.looked_at) * 1000) - SLACK_MS)
