"""`drain`: the recovery of a consumer that restarted: its own entries, processed here under its own name."""

from __future__ import annotations

import os
from typing import Annotated

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


def drain(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The consumer whose entries are taken.")],
    *,
    handler: HandlerOption = None,
    min_idle: MinIdleOption = None,
    max_attempts: MaxAttemptsOption = None,
    owner_is_stopped: Annotated[
        bool, typer.Option("--owner-is-stopped", help="Your word that no process called NAME runs: allows less than T.")
    ] = False,
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
    """Process the entries a consumer still holds, here, under its name: it restarted and never drained its own list.

    Takes only what has been idle for T, so that nothing a living NAME is running is touched. Each entry is acknowledged
    after the handler's ok, and stays pending otherwise. Creates nothing. Ctrl-c lets the running handler end and
    releases the rest; a second one ends at once.
    """
    from echomq_console.model.action import Options, Target

    aim = aim_of(ctx.obj, url, job_time, handler)
    options = Options(
        min_idle_ms=min_idle_ms(min_idle),
        handler=aim.handler,
        max_attempts=max_attempts,
        owner_is_stopped=owner_is_stopped,
        batch=batch,
    )
    target = Target(os.fsencode(stream), os.fsencode(group), os.fsencode(name))
    how = How(dry_run, yes, count, as_json, events, confirmed, stop_on_eof)
    return Order("drain", aim, target, options, how).work
