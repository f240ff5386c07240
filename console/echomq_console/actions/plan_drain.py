"""Plan a drain: recover *self*. NAME's own entries, processed here, under its name."""

from __future__ import annotations

from echomq_console.model.action import Options, Plan, Target
from echomq_console.model.snapshot import PendingEntry
from echomq_console.model.text import harmless

from .planning import GroupNow, group_now
from .rows import pending_rows
from .session import ActionRefused, Session
from .shell import spelled
from .wording import COUNT_IS_TYPED_OVER, SAMPLE, deliveries_text, entries, often_delivered, span, still_reading


async def plan_drain(session: Session, target: Target, options: Options) -> Plan:
    """Look at what a drain of `target.consumer` would take. Raises ActionRefused or a ServerError."""
    from echomq_console.observe.look import require_consumer

    name = target.consumer
    if name is None:
        raise ActionRefused("a drain needs the name of the consumer whose entries it takes")
    job_ms = session.thresholds.job_ms
    min_idle_ms = job_ms if options.min_idle_ms is None else options.min_idle_ms
    now = await group_now(session, target)
    await require_consumer(session.wire, target.stream, target.group, name)
    rows: list[PendingEntry] = []
    async for page in pending_rows(
        session.wire, target.stream, target.group, consumer=name, min_idle_ms=min_idle_ms or None
    ):
        rows += page
    warnings = _warnings(session, options, rows, min_idle_ms)
    return Plan(
        action="drain",
        target=target,
        options=options,
        actor=session.actor,
        count=len(rows),
        exact=True,
        sample=tuple(rows[:SAMPLE]),
        owners={name: len(rows)} if rows else {},
        effects=(*_effects(target, rows, harmless(name, 60)), *_unseen(session, now, name)),
        untouched=_untouched(now, name, len(rows), min_idle_ms),
        reassurances=(f"min-idle is T, {span(job_ms)}: what a living {harmless(name, 60)} is running is not taken",)
        if min_idle_ms >= job_ms
        else (),
        warnings=tuple(warnings),
        commands=_commands(target, name, min_idle_ms, options.batch),
        needs_count=len(rows) > COUNT_IS_TYPED_OVER or bool(warnings),
        refusal=_refusal(session, options, now, name, min_idle_ms) or _nothing(rows, min_idle_ms, name),
        before=tuple(rows),
    )


def _effects(target: Target, rows: list[PendingEntry], name: str) -> tuple[str, ...]:
    if not rows:
        return (f"{name} holds nothing that a drain would take.",)
    are, their = ("is", "Its") if len(rows) == 1 else ("are", "Their")
    return (
        f"{entries(len(rows))} of {name} {are} processed here, under its own name: this recovers {name} itself.",
        f"Each counts one more delivery ({deliveries_text(rows)}) and is acknowledged when the handler says ok.",
        f"{their} owner stays {name}; what the handler refuses stays pending.",
    )


def _unseen(session: Session, now: GroupNow, name: bytes) -> tuple[str, ...]:
    """A drain recovers a name that comes back; for one that does not, the other recovery fits."""
    if still_reading(now.consumers, name, session.thresholds.job_ms) is not False:
        return ()
    idle = span(now.consumers[name].idle_ms)
    return (f"{harmless(name, 60)} has not been seen for {idle}: if it never comes back, an autoclaim fits better.",)


def _untouched(now: GroupNow, name: bytes, taken: int, min_idle_ms: int) -> tuple[str, ...]:
    own = now.consumers[name].pending - taken
    others = now.pending - now.consumers[name].pending
    lines = []
    if own > 0:
        lines.append(f"{entries(own)} of {harmless(name, 60)}, idle for less than {span(min_idle_ms)}")
    if others > 0:
        lines.append(f"{entries(others)} of other consumers")
    return tuple(lines)


def _warnings(session: Session, options: Options, rows: list[PendingEntry], min_idle_ms: int) -> list[str]:
    warnings = often_delivered(rows, session.thresholds.poison_deliveries, options.max_attempts)
    if min_idle_ms < session.thresholds.job_ms:
        warnings.append(
            f"min-idle {span(min_idle_ms)} is shorter than T, {span(session.thresholds.job_ms)}: "
            "an entry that is running elsewhere may run twice"
        )
    return warnings


def _refusal(session: Session, options: Options, now: GroupNow, name: bytes, min_idle_ms: int) -> str | None:
    """Below T only the operator's word, or its own silence, says that no process of that name is running."""
    if min_idle_ms >= session.thresholds.job_ms or options.owner_is_stopped:
        return None
    if still_reading(now.consumers, name, session.thresholds.job_ms) is False:
        return None
    return (
        f"{harmless(name, 60)} tried to read within T ({span(session.thresholds.job_ms)}) or may have: "
        f"leave min-idle at T, or stop it and say --owner-is-stopped"
    )


def _nothing(rows: list[PendingEntry], min_idle_ms: int, name: bytes) -> str | None:
    return None if rows else f"{harmless(name, 60)} holds no entry idle for {span(min_idle_ms)} or longer"


def _commands(target: Target, name: bytes, min_idle_ms: int, batch: int) -> tuple[str, ...]:
    idle: tuple[bytes | str | int, ...] = ("IDLE", min_idle_ms) if min_idle_ms else ()
    return (
        spelled("XPENDING", target.stream, target.group, *idle, "-", "+", batch, name),
        spelled("XCLAIM", target.stream, target.group, name, 0, "<id>") + "   if still its own and as idle",
        spelled("XACK", target.stream, target.group, "<id>") + "   after the handler's ok",
    )
