"""`consume`: the full consumer, headless: a service's own process, in a container or under systemd."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .aim import aim_of
from .errors import Misused
from .options import (
    GroupArgument,
    HandlerOption,
    JobTimeOption,
    StopOnEofOption,
    StreamArgument,
    UrlOption,
    Work,
    read_duration,
)

if TYPE_CHECKING:
    from echomq_console.engine import StartAt


def consume(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The consumer's name: the same one at every start.")],
    *,
    start: Annotated[
        str,
        typer.Option(
            "--start",
            metavar="new|head|ID",
            help="Where the group begins if it does not exist: at what comes from now on, at all the stream still "
            "holds, or after an entry id.",
        ),
    ],
    handler: HandlerOption = None,
    min_idle: Annotated[
        str | None,
        typer.Option(
            "--min-idle", metavar="DURATION", help="The beat claims from peers what has been idle so long. Default: T."
        ),
    ] = None,
    beat: Annotated[str, typer.Option("--beat", metavar="DURATION", help="Between two beats.")] = "1s",
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, max=10_000, help="Entries per claim and per look.")
    ] = 100,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=10_000, help="Handlers at a time; 1 keeps order.")
    ] = 1,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="DURATION", help="For one call of the handler. Default: none.")
    ] = None,
    max_attempts: Annotated[
        int | None,
        typer.Option(
            "--max-attempts",
            metavar="N",
            min=1,
            help="Entries delivered N times already go to the dead letters, not to the handler. Default: none do.",
        ),
    ] = None,
    retry_delay: Annotated[
        str,
        typer.Option("--retry-delay", metavar="DURATION", help="What failed waits so much longer than min-idle."),
    ] = "0",
    recreate: Annotated[
        Literal["new", "head"] | None,
        typer.Option("--recreate", help="Make a lost group again, there. Default: that is an error."),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the stream if it does not exist, without asking.")
    ] = False,
    grace: Annotated[
        str | None,
        typer.Option(
            "--grace",
            metavar="DURATION",
            help="How long a running handler may still take when told to stop. Default: as long as it takes.",
        ),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option("--events", metavar="-|FILE", help="Write one JSON line per event: to standard output, or here."),
    ] = None,
    log_format: Annotated[Literal["text", "json"], typer.Option("--log-format", help="The log's lines.")] = "text",
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        typer.Option("--log-level", help="The least that is logged; debug: also every delivery and acknowledgement."),
    ] = "info",
    report: Annotated[
        str, typer.Option("--report", metavar="DURATION", help="Between two lines of totals; 0: only at the end.")
    ] = "60s",
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    stop_on_eof: StopOnEofOption = False,
) -> Work:
    """Consume, until told to stop: drain what NAME holds, then read what is new, and claim what peers left idle.

    Each entry is acknowledged after the handler's ok, and stays pending otherwise. The log goes to standard error.
    SIGTERM, SIGINT or SIGHUP lets the running handlers end, gives back what was not begun, and the exit status is 0; a
    second one ends at once. A server that is away is waited for; what waiting cannot mend ends with status 3.
    """
    from echomq_console.actions.consuming import Service

    from .consuming import Consuming

    aim = aim_of(ctx.obj, url, job_time, handler)
    if not aim.handler:
        raise Misused("name the service's handler: --handler module:function, or --handler 'exec:PROGRAM ARG ...'")
    service = Service(
        stream=os.fsencode(stream),
        group=os.fsencode(group),
        name=os.fsencode(name),
        start=_start_at(start),
        handler=aim.handler,
        min_idle_ms=_positive(min_idle or f"{aim.thresholds.job_ms}ms", "--min-idle"),
        beat_ms=_positive(beat, "--beat"),
        count=count,
        concurrency=concurrency,
        timeout_ms=None if timeout is None else _positive(timeout, "--timeout"),
        max_attempts=max_attempts,
        retry_delay_ms=read_duration(retry_delay, "--retry-delay"),
        recreate=None if recreate is None else _start_at(recreate),
        grace_ms=None if grace is None else read_duration(grace, "--grace"),
    )
    return Consuming(
        aim,
        service,
        create=create,
        events=events,
        log_format=log_format,
        log_level=log_level,
        report_ms=read_duration(report, "--report"),
        stop_on_eof=stop_on_eof,
    ).work


def _start_at(said: str) -> StartAt:
    """Read where a group begins. Raises Misused."""
    from echomq_console.engine import Start
    from echomq_console.model.entry_id import EntryId

    known = {"new": Start.NEW, "head": Start.HEAD}.get(said)
    if known is not None:
        return known
    try:
        return EntryId.parse(os.fsencode(said))
    except ValueError:
        raise Misused(
            f"--start {said[:40]!r} is no place in a stream: say new, head, or an entry id like 1769526697641-0"
        ) from None


def _positive(said: str, option: str) -> int:
    """Read a length of time that is not 0. Raises Misused."""
    ms = read_duration(said, option)
    if ms == 0:
        raise Misused(f"{option} is longer than 0")
    return ms
