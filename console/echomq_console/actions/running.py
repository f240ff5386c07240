"""Run a confirmed plan here: audit, act, re-check on the server, report."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from echomq_console.audit.log import AuditedAction, AuditError
from echomq_console.engine import DeadLetter, autoclaim, dead_letter, drain
from echomq_console.engine.errors import DeadLetterRefused, EngineError
from echomq_console.engine.events import Event
from echomq_console.engine.handlers import Handler
from echomq_console.model.action import Outcome, Plan
from echomq_console.model.entry_id import EntryId
from echomq_console.model.text import harmless
from echomq_console.server.errors import ServerError
from echomq_console.server.wire import Wire

from . import record
from .catalogue import ACTIONS
from .confirmed import confirmed_idle_ms
from .contained import contained_handler
from .rows import pending_rows
from .session import ActionRefused, Session
from .tally import OnEvent, OnProgress, Tally

_SLACK_MS = 1_000
"""What is so little younger than min-idle when it is looked at may be old enough when it is claimed."""

Road = Callable[[Session, Plan, Tally, AuditedAction, asyncio.Event], Awaitable[None]]


async def run_here(
    session: Session,
    plan: Plan,
    *,
    on_progress: OnProgress | None = None,
    on_event: OnEvent | None = None,
    on_audit: Callable[[str], None] | None = None,
    stop: asyncio.Event | None = None,
) -> Outcome:
    """Carry out a plan that was confirmed. The handler, if any, runs in this process.

    `stop`: when set, what runs is settled and the rest left as it is. Raises ActionRefused, AuditError or
    HandlerNotFound before anything was changed; after that, trouble is in the outcome's `error`.
    """
    session.require_writable()
    if plan.refusal is not None:
        raise ActionRefused(plan.refusal)
    if ACTIONS[plan.action].needs_handler:
        _require_handler(plan)
    audited = record.begin(session, plan)
    if on_audit is not None:
        on_audit(audited.audit_id)
    tally = Tally(plan.count, on_progress, on_event)
    began = time.monotonic()
    stop = stop or asyncio.Event()
    error: str | None = None
    try:
        await _ROADS[plan.action](session, plan, tally, audited, stop)
        tally.write_batch(audited)
        error = tally.trouble
    except (ServerError, EngineError, AuditError) as trouble:
        error = str(trouble)
    remaining = _remaining(session, plan, tally) if stop.is_set() else None
    outcome = _outcome(plan, tally, audited, time.monotonic() - began, error=error, remaining=remaining)
    try:
        record.write_outcome(audited, outcome)
    except AuditError as trouble:
        return replace(outcome, error=f"{error}; {trouble}" if error else str(trouble))
    return outcome


async def _run_drain(session: Session, plan: Plan, tally: Tally, audited: AuditedAction, stop: asyncio.Event) -> None:
    assert plan.target.consumer is not None
    await _note_before_drain(session, plan, audited, plan.target.consumer)
    report = await drain(
        session.address,
        stream=plan.target.stream,
        group=plan.target.group,
        name=plan.target.consumer,
        handler=_require_handler(plan),
        min_idle=confirmed_idle_ms(session, plan) / 1000,
        dead_letter=_policy(plan),
        listener=_Listener(tally, audited, stop),
        count=plan.options.batch,
        stop=stop,
    )
    tally.add(report)


async def _run_autoclaim(
    session: Session, plan: Plan, tally: Tally, audited: AuditedAction, stop: asyncio.Event
) -> None:
    """Follow the cursor once around the list: one call, then the next where it left off.

    A claim tells no previous owner, so a page is looked at before each call.
    """
    handler, cursor = _require_handler(plan), "0-0"
    listener, before = _Listener(tally, audited, stop), record.Before(audited, plan.before)
    while not stop.is_set():
        await _note_before_claim(session, plan, before, cursor)
        report = await autoclaim(
            session.address,
            stream=plan.target.stream,
            group=plan.target.group,
            name=session.console_name,
            min_idle=confirmed_idle_ms(session, plan) / 1000,
            handler=handler,
            cursor=cursor,
            dead_letter=_policy(plan),
            listener=listener,
            count=plan.options.batch,
            stop=stop,
        )
        tally.add(report)
        tally.write_batch(audited)
        cursor = report.cursor
        if cursor == "0-0":
            return


async def _note_before_drain(session: Session, plan: Plan, audited: AuditedAction, name: bytes) -> None:
    """Write down what became old enough since the plan was made, before it changes. Raises AuditError."""
    before, target = record.Before(audited, plan.before), plan.target
    async with _looking(session) as wire:
        async for page in pending_rows(
            wire, target.stream, target.group, consumer=name, min_idle_ms=confirmed_idle_ms(session, plan) or None
        ):
            before.note(page)


async def _note_before_claim(session: Session, plan: Plan, before: record.Before, cursor: str) -> None:
    """Write down the rows the next XAUTOCLAIM may take, as they are: it looks at ten times its COUNT."""
    left, least_idle_ms = plan.options.batch * 10, confirmed_idle_ms(session, plan) - _SLACK_MS
    async with _looking(session) as wire:
        async for page in pending_rows(
            wire, plan.target.stream, plan.target.group, start=EntryId.parse(cursor), most=left
        ):
            before.note([row for row in page if row.idle_ms >= least_idle_ms])


@contextlib.asynccontextmanager
async def _looking(session: Session) -> AsyncIterator[Wire]:
    """A connection of the run's own: it may run in another event loop than the plan was made in."""
    wire = Wire(session.address, read_only=True)
    try:
        yield wire
    finally:
        await wire.close()


async def _run_dead_letter(
    session: Session, plan: Plan, tally: Tally, audited: AuditedAction, stop: asyncio.Event
) -> None:
    """Move the entries a batch at a time; each is moved only if owner and count are still as the plan showed them."""
    seen = {row.id: row for row in plan.before}
    ids = list(seen)
    listener = _Listener(tally, audited, stop)
    for at in range(0, len(ids), plan.options.batch):
        if stop.is_set():
            return
        part = ids[at : at + plan.options.batch]
        try:
            report = await dead_letter(
                session.address,
                stream=plan.target.stream,
                group=plan.target.group,
                ids=part,
                reason=plan.options.reason,
                by=session.actor,
                expect={each: (seen[each].consumer, seen[each].delivery_count) for each in part},
                listener=listener,
            )
        except DeadLetterRefused as refused:
            tally.add(refused.report)
            raise
        tally.add(report)
        tally.write_batch(audited)


class _Listener:
    """Hands the engine's events to the tally, and writes a batch line to the audit log every hundred entries.

    The engine calls it and must not be broken by it: where the log cannot be written, the run is stopped instead.
    """

    def __init__(self, tally: Tally, audited: AuditedAction, stop: asyncio.Event, every: int = 100) -> None:
        self._tally = tally
        self._audited = audited
        self._stop = stop
        self._every = every
        self._next = every

    def __call__(self, event: Event) -> None:
        self._tally.listen(event)
        settled = len(self._tally.done) + len(self._tally.dead_lettered)
        if settled >= self._next:
            self._next = settled + self._every
            try:
                self._tally.write_batch(self._audited)
            except AuditError as trouble:
                self._tally.trouble = str(trouble)
                self._stop.set()


def _require_handler(plan: Plan) -> Handler:
    if not plan.options.handler:
        raise ActionRefused("name a handler first: module:function, or exec:PROGRAM ARG ...")
    return contained_handler(plan.options.handler)


def _policy(plan: Plan) -> DeadLetter | None:
    limit = plan.options.max_attempts
    return None if limit is None else DeadLetter(max_attempts=limit)


def _remaining(session: Session, plan: Plan, tally: Tally) -> str | None:
    """Say what a stopped run did not begin, and where that is now; None where nothing was left."""
    settled = len(tally.done) + len(tally.failures) + len(tally.skipped)
    settled += len(set(tally.dead_lettered) - set(tally.done))
    left = plan.count - settled
    if left <= 0:
        return None
    begun = f"{left:,} of {plan.count:,} were not begun"
    claimed = tally.claimed - {*tally.done, *tally.dead_lettered, *tally.failures, *tally.skipped}
    if not claimed:
        return f"{begun} and are as they were"
    held = f"{len(claimed):,} of them {'is' if len(claimed) == 1 else 'are'}"
    name = harmless(session.console_name, 60)
    return f"{begun}; {held} on the list of {name} by now, the delivery counts as they were: autoclaim again goes on"


def _outcome(
    plan: Plan, tally: Tally, audited: AuditedAction, seconds: float, *, error: str | None, remaining: str | None
) -> Outcome:
    moved = plan.action == "dead-letter"
    return Outcome(
        action=plan.action,
        stream=plan.target.stream,
        group=plan.target.group,
        done=len(tally.dead_lettered if moved else tally.done),
        failed=len(tally.failures),
        dead_lettered=len(tally.dead_lettered),
        ids=tuple(tally.dead_lettered if moved else tally.done),
        failures=tally.failure_list(),
        skipped=tally.skipped_list(),
        audit_id=audited.audit_id,
        seconds=seconds,
        error=error,
        remaining=remaining,
    )


_ROADS: dict[str, Road] = {"drain": _run_drain, "autoclaim": _run_autoclaim, "dead-letter": _run_dead_letter}
