"""Plan an autoclaim: recover *peers*. Entries of consumers that never come back, claimed here and processed here."""

from __future__ import annotations

from echomq_console.model.action import Options, Plan, Target
from echomq_console.model.snapshot import PendingEntry
from echomq_console.model.text import harmless, number

from .planning import GroupNow, group_now
from .rows import count_owners, pending_rows
from .session import Session
from .shell import spelled
from .wording import (
    COUNT_IS_TYPED_OVER,
    SAMPLE,
    deliveries_text,
    entries,
    often_delivered,
    owners_text,
    span,
    still_reading,
)


async def plan_autoclaim(session: Session, target: Target, options: Options) -> Plan:
    """Look at what one beat, followed around the whole list, would claim. Raises a ServerError."""
    job_ms = session.thresholds.job_ms
    min_idle_ms = job_ms if options.min_idle_ms is None else options.min_idle_ms
    now = await group_now(session, target)
    rows: list[PendingEntry] = []
    oldest_young: int | None = None
    async for page in pending_rows(session.wire, target.stream, target.group):
        for row in page:
            if row.idle_ms >= min_idle_ms:
                rows.append(row)
            else:
                oldest_young = max(row.idle_ms, oldest_young or 0)
    owners = count_owners(rows)
    warnings = often_delivered(rows, session.thresholds.poison_deliveries, options.max_attempts)
    warnings += _warnings(session, now, owners, min_idle_ms)
    return Plan(
        action="autoclaim",
        target=target,
        options=options,
        actor=session.actor,
        count=len(rows),
        exact=False,
        sample=tuple(rows[:SAMPLE]),
        owners=owners,
        effects=_effects(session, rows, owners, min_idle_ms),
        untouched=(f"{entries(now.pending - len(rows))} idle for less than {span(min_idle_ms)}",)
        if now.pending > len(rows)
        else (),
        reassurances=_reassurances(job_ms, min_idle_ms, oldest_young),
        warnings=tuple(warnings),
        commands=_commands(session, target, min_idle_ms, options.batch, now.pending),
        needs_count=len(rows) > COUNT_IS_TYPED_OVER or bool(warnings),
        refusal=None if rows else f"nothing in this group is idle for {span(min_idle_ms)} or longer",
        before=tuple(rows),
    )


def _effects(session: Session, rows: list[PendingEntry], owners: dict[bytes, int], min_idle_ms: int) -> tuple[str, ...]:
    if not rows:
        return ("There is nothing to claim.",)
    move = "moves" if len(rows) == 1 else "move"
    return (
        f"About {entries(len(rows))} idle for {span(min_idle_ms)} or longer {move} from {owners_text(owners)}",
        f"to {harmless(session.console_name, 60)}, that is: here. This recovers peers that do not come back.",
        f"Each counts one more delivery ({deliveries_text(rows)}) and is acknowledged when the handler says ok.",
        "What the handler refuses stays pending, in the console's own list.",
    )


def _reassurances(job_ms: int, min_idle_ms: int, oldest_young: int | None) -> tuple[str, ...]:
    if min_idle_ms < job_ms:
        return ()
    oldest = "" if oldest_young is None else f" (the oldest of them: {span(oldest_young)})"
    return (f"min-idle {span(min_idle_ms)} is T or longer: entries that living consumers work on are younger{oldest}",)


def _warnings(session: Session, now: GroupNow, owners: dict[bytes, int], min_idle_ms: int) -> list[str]:
    warnings = []
    job_ms = session.thresholds.job_ms
    if min_idle_ms < job_ms:
        warnings.append(
            f"min-idle {span(min_idle_ms)} is shorter than T, {span(job_ms)}: "
            "an entry that somebody is still running may be taken, and runs twice"
        )
    for name, count in owners.items():
        if name != session.console_name and still_reading(now.consumers, name, job_ms):
            warnings.append(
                f"{harmless(name, 60)} still reads and would lose {entries(count)}: "
                "if it restarted without draining, a drain of its own list fits better"
            )
    return warnings


def _commands(session: Session, target: Target, min_idle_ms: int, batch: int, pending: int) -> tuple[str, ...]:
    calls = max(1, -(-pending // batch))
    group, name = (target.stream, target.group), session.console_name
    claim = spelled("XAUTOCLAIM", *group, name, min_idle_ms, "<cursor>", "COUNT", batch, "JUSTID")
    count = spelled("XCLAIM", *group, name, 0, "<id>", "IDLE", 0, "RETRYCOUNT", "<count + 1>", "JUSTID")
    return (
        f"{claim}   (about {number(calls)} {'call' if calls == 1 else 'calls'}, to the end of the list)",
        f"{count}   when its turn comes, if still the console's own",
        spelled("XACK", target.stream, target.group, "<id>") + "   after the handler's ok",
    )
