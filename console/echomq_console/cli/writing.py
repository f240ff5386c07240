"""The road of every command that changes something: plan, show, confirm, run, tell."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from .aim import connected, session_of
from .boundary import TROUBLE, WELL, complain
from .confirming import confirm
from .errors import Misused
from .order import How, Order

if TYPE_CHECKING:
    from echomq_console.actions.session import Session
    from echomq_console.model.action import Outcome, Plan
    from echomq_console.model.snapshot import Snapshot

    from .telling import Teller


def carry_out(order: Order) -> int:
    """Do what was ordered; returns the exit status. Raises where nothing was changed, in one clear line."""
    from .telling import teller_of

    _require_sense(order.how)
    session, snapshot, plan = asyncio.run(_plan(order))
    with teller_of(order.action, snapshot, plan, order.how) as teller:
        if not order.how.confirmed:
            teller.show_plan()
        if _is_nothing(plan) and not order.how.confirmed:
            teller.show_nothing()
            return WELL
        if order.how.dry_run:
            teller.show_nothing()
            _require_no_refusal(plan)
            return WELL
        _require_runnable(session, plan)
        if not order.how.confirmed:
            confirm(plan, yes=order.how.yes, count=order.how.count)
        return _run(session, plan, order.how, teller)


def _require_sense(how: How) -> None:
    if how.events not in (None, "-"):
        raise Misused("--events takes only - : the events go to standard output")
    if how.events and how.as_json:
        raise Misused("--events - and --json both want standard output: say one of them")


async def _plan(order: Order) -> tuple[Session, Snapshot, Plan]:
    from echomq_console.actions.catalogue import plan_action

    from .looking import look_at_server

    async with connected(order.aim) as wire:
        session = session_of(order.aim, wire)
        plan = await plan_action(session, order.action, order.target, order.options)
        return session, await look_at_server(wire, order.aim.thresholds), plan


def _is_nothing(plan: Plan) -> bool:
    """Whether a recovery finds nothing to do, which is no trouble; entries named one by one and not there are."""
    return plan.count == 0 and not plan.target.ids


def _require_runnable(session: Session, plan: Plan) -> None:
    """Refuse before anybody is asked: nobody confirms what cannot be run."""
    from echomq_console.actions.catalogue import ACTIONS

    session.require_writable()
    _require_no_refusal(plan)
    if ACTIONS[plan.action].needs_handler and not plan.options.handler:
        raise Misused("name the service's handler: --handler module:function, or --handler 'exec:PROGRAM ARG ...'")


def _require_no_refusal(plan: Plan) -> None:
    from echomq_console.actions.session import ActionRefused

    if plan.refusal is not None:
        raise ActionRefused(plan.refusal)


def _run(session: Session, plan: Plan, how: How, teller: Teller) -> int:
    from echomq_console.actions.running import run_here

    from .stopping import EndedAtOnce, run_until_told

    # The outcome says all of it. A service's handler that sets up logging of its own still gets to see the lines.
    logging.getLogger("echomq_console").addHandler(logging.NullHandler())

    async def main(stop: asyncio.Event) -> Outcome:
        teller.stops_by(stop)
        return await run_here(
            session,
            plan,
            on_progress=teller.progress,
            on_event=teller.event if teller.wants_events else None,
            on_audit=teller.audit,
            stop=stop,
        )

    try:
        outcome, signal_number = run_until_told(main, watched_input=0 if how.stop_on_eof else None)
    except EndedAtOnce as ended:
        complain("ended at once: what ran is still pending, and its handler may have done it all the same")
        return 128 + ended.signal_number
    teller.show_outcome(outcome)
    status = _status(outcome)
    if signal_number is not None:
        complain(f"stopped: {outcome.remaining or 'nothing was left to do'}")
        return 128 + signal_number
    return status


def _status(outcome: Outcome) -> int:
    """Say what was not done, on standard error, and give the exit status."""
    if outcome.error:
        complain(f"{outcome.action} ended early: {outcome.error}")
        return TROUBLE
    if outcome.failed:
        tried = outcome.done + outcome.failed
        reason = f": {outcome.failures[0].why}" if outcome.failures else ""
        entries = "entry" if tried == 1 else "entries"
        stay = "stays" if outcome.failed == 1 else "stay"
        complain(f"{outcome.failed:,} of {tried:,} {entries} failed and {stay} pending{reason}")
        return TROUBLE
    return WELL
