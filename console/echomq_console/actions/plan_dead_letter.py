"""Plan a dead-lettering: entries that break their handler, out of the way, with every byte and where they came from."""

from __future__ import annotations

from echomq_console.model.action import Options, Plan, Target
from echomq_console.model.entry_id import EntryId
from echomq_console.model.keys import dead_letter_key
from echomq_console.model.snapshot import PendingEntry
from echomq_console.model.text import harmless
from echomq_console.server import commands

from .planning import GroupNow, group_now
from .rows import count_owners, pending_rows, rows_of_ids
from .session import ActionRefused, Session
from .shell import spelled
from .wording import COUNT_IS_TYPED_OVER, SAMPLE, entries, owners_text, span, still_reading


async def plan_dead_letter(session: Session, target: Target, options: Options) -> Plan:
    """Look at the entries to be moved. Raises ActionRefused or a ServerError."""
    if not target.ids and target.min_deliveries is None:
        raise ActionRefused("dead-letter needs the ids of the entries to move, or deliveries>=N")
    now = await group_now(session, target)
    rows, missing = await _rows(session, target)
    dead_key = dead_letter_key(target.stream)
    kind = await session.wire.ask(commands.key_type(dead_key))
    owners = count_owners(rows)
    warnings = _warnings(session, now, rows, missing)
    return Plan(
        action="dead-letter",
        target=target,
        options=options,
        actor=session.actor,
        count=len(rows),
        exact=True,
        sample=tuple(rows[:SAMPLE]),
        owners=owners,
        effects=_effects(target, rows, owners, dead_key, options.reason),
        untouched=(_others(now.pending - len(rows)),),
        reassurances=(
            "copied on the server with every pair, and acknowledged only when the copy is there, in one step",
        ),
        warnings=tuple(warnings),
        commands=(
            spelled("XADD", dead_key, "*", "<every original pair>", "dl:stream … dl:at"),
            spelled("XACK", target.stream, target.group, "<id>")
            + "   in the same script, if owner and count are as shown",
        ),
        needs_count=len(rows) > COUNT_IS_TYPED_OVER or bool(warnings),
        refusal=_refusal(None if rows else _nothing(target, missing), dead_key, kind),
        before=rows,
    )


async def _rows(session: Session, target: Target) -> tuple[tuple[PendingEntry, ...], tuple[EntryId, ...]]:
    if target.min_deliveries is None:
        return await rows_of_ids(session.wire, target.stream, target.group, tuple(dict.fromkeys(target.ids)))
    pages = pending_rows(session.wire, target.stream, target.group)
    return tuple([row async for page in pages for row in page if row.delivery_count >= target.min_deliveries]), ()


def _effects(
    target: Target, rows: tuple[PendingEntry, ...], owners: dict[bytes, int], dead_key: bytes, reason: str
) -> tuple[str, ...]:
    if not rows:
        return ("None of these entries is pending in this group.",)
    which = str(rows[0].id) if len(rows) == 1 else entries(len(rows))
    group = harmless(target.group, 60)
    moves, is_, it, its = ("moves", "is", "it", "Its") if len(rows) == 1 else ("move", "are", "them", "Their")
    return (
        f"{which} of {owners_text(owners)} {moves} to {harmless(dead_key, 120)}",
        f"and {is_} acknowledged in {group}: no consumer of {group} gets {it} again.",
        f"{its} delivery count, owner and the reason “{harmless(reason, 60)}” are kept with {it}.",
    )


def _warnings(
    session: Session, now: GroupNow, rows: tuple[PendingEntry, ...], missing: tuple[EntryId, ...]
) -> list[str]:
    warnings = []
    if missing:
        shown = ", ".join(map(str, missing[:3])) + (" …" if len(missing) > 3 else "")
        warnings.append(f"{entries(len(missing))} not pending in this group, left alone: {shown}")
    job_ms = session.thresholds.job_ms
    young = [row for row in rows if row.idle_ms < job_ms and still_reading(now.consumers, row.consumer, job_ms)]
    if young:
        youngest = min(row.idle_ms for row in young)
        warnings.append(
            f"{entries(len(young))} last delivered {span(youngest)} ago to a consumer that reads: may be running now"
        )
    return warnings


def _others(pending: int) -> str:
    own = f"{entries(pending)} of this group, and " if pending > 0 else ""
    return f"{own}every other group of the stream"


def _nothing(target: Target, missing: tuple[EntryId, ...]) -> str:
    if target.min_deliveries is not None:
        return f"nothing pending in this group was delivered {target.min_deliveries} times or more"
    return "not pending in this group any more: " + ", ".join(map(str, missing[:3]))


def _refusal(nothing: str | None, dead_key: bytes, kind: str) -> str | None:
    if nothing is not None:
        return nothing
    if kind not in ("none", "stream"):
        return f"{harmless(dead_key, 120)} holds a {kind}, not a stream: nothing can be moved there"
    return None
