"""`autoclaim`: the recovery of peers that never come back: their idle entries, claimed and processed here."""

from __future__ import annotations

import os

import typer

from .aim import aim_of
from .options import (
    BatchOption,
    ConfirmedOption,
    CountOption,
    DryRunOption,
    EventsOption,
    GroupArgument,
    HandlerOption,
    JobTimeOption,
    JsonOption,
    MaxAttemptsOption,
    MinIdleOption,
    StopOnEofOption,
    StreamArgument,
    UrlOption,
    Work,
    YesOption,
    min_idle_ms,
)
from .order import How, Order


def autoclaim(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    *,
    handler: HandlerOption = None,
    min_idle: MinIdleOption = None,
    max_attempts: MaxAttemptsOption = None,
    batch: BatchOption = 100,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    count: CountOption = None,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    as_json: JsonOption = False,
    events: EventsOption = None,
    confirmed: ConfirmedOption = False,
    stop_on_eof: StopOnEofOption = False,
) -> Work:
    """Claim what has been idle for T, whoever holds it, and process it here: its consumers do not come back.

    One beat, once around the list, to the console's own name (console-LOGIN@HOST). Each entry is acknowledged after the
    handler's ok, and stays pending otherwise. Ctrl-c lets the running handler end and releases the rest; a second one
    ends at once.
    """
    from echomq_console.model.action import Options, Target

    aim = aim_of(ctx.obj, url, job_time, handler)
    options = Options(min_idle_ms=min_idle_ms(min_idle), handler=aim.handler, max_attempts=max_attempts, batch=batch)
    how = How(dry_run, yes, count, as_json, events, confirmed, stop_on_eof)
    return Order("autoclaim", aim, Target(os.fsencode(stream), os.fsencode(group)), options, how).work
