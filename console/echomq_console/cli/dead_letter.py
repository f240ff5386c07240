"""`dead-letter`: entries that break their handler, out of the way, with every byte and where they came from."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .aim import aim_of
from .errors import Misused
from .options import (
    BatchOption,
    CountOption,
    DryRunOption,
    EventsOption,
    GroupArgument,
    JobTimeOption,
    JsonOption,
    StreamArgument,
    UrlOption,
    Work,
    YesOption,
)
from .order import How, Order

if TYPE_CHECKING:
    from echomq_console.model.entry_id import EntryId

IDS_HELP = "Entry ids, as `pending` shows them; or 'deliveries>=N' for all that were delivered so often."
DEFAULT_REASON = "moved by an operator"


def dead_letter(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help=IDS_HELP)],
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Kept with each entry.")] = DEFAULT_REASON,
    batch: BatchOption = 100,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    count: CountOption = None,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    as_json: JsonOption = False,
    events: EventsOption = None,
) -> Work:
    """Move pending entries to the stream's dead letters, and acknowledge them in the same step.

    Every pair of the entry is kept, with its owner, delivery count and the reason. What changed since the plan was
    shown is left alone and named.
    """
    from echomq_console.model.action import Options, Target

    aim = aim_of(ctx.obj, url, job_time)
    options = Options(reason=reason, batch=batch)
    least = _min_deliveries(ids)
    entry_ids = _entry_ids(ids) if least is None else ()
    target = Target(os.fsencode(stream), os.fsencode(group), ids=entry_ids, min_deliveries=least)
    return Order("dead-letter", aim, target, options, How(dry_run, yes, count, as_json, events)).work


def _entry_ids(said: Sequence[str]) -> tuple[EntryId, ...]:
    from echomq_console.model.entry_id import EntryId

    try:
        return tuple(EntryId.parse(os.fsencode(each)) for each in said)
    except ValueError as error:
        raise Misused(str(error)) from None


def _min_deliveries(said: Sequence[str]) -> int | None:
    """Read `deliveries>=N`; None where entries are named by their ids."""
    term = re.fullmatch(r"deliveries>=([1-9][0-9]{0,8})", said[0]) if len(said) == 1 else None
    return int(term[1]) if term else None
