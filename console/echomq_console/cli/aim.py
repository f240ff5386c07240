"""Where a command aims: which server, with which thresholds, and whether it may change anything."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from .errors import Misused, NoServer
from .options import Root, Work, read_duration

if TYPE_CHECKING:
    from echomq_console.actions.session import Session
    from echomq_console.model.finding import Thresholds
    from echomq_console.server.wire import Wire

DEFAULT_JOB_TIME = "5m"

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Aim:
    """One command's server and thresholds. `url` may hold a password and is never printed."""

    url: str
    thresholds: Thresholds
    handler: str | None
    read_only: bool


def aim_of(root: Root, url: str | None = None, job_time: str | None = None, handler: str | None = None) -> Aim:
    """Put together what was said before and behind a command's name, and the environment. Raises Misused."""
    from echomq_console.model.finding import Thresholds
    from echomq_console.server.address import DEFAULT_URL

    return Aim(
        url=url or root.url or os.environ.get("ECHOMQ_URL") or DEFAULT_URL,
        thresholds=Thresholds(job_ms=_job_ms(job_time or root.job_time or DEFAULT_JOB_TIME)),
        handler=handler or root.handler,
        read_only=root.read_only,
    )


def later(main: Callable[P, Coroutine[Any, Any, int]], *args: P.args, **kwargs: P.kwargs) -> Work:
    """Put off a coroutine's work until the command line has been parsed."""

    def work() -> int:
        import asyncio

        return asyncio.run(main(*args, **kwargs))

    return work


@asynccontextmanager
async def connected(aim: Aim) -> AsyncIterator[Wire]:
    """Open a connection that only looks; also a command that writes makes its plan over such a one.

    Raises NoServer, InvalidAddress or Refused.
    """
    from echomq_console.server.address import Address
    from echomq_console.server.errors import Unreachable
    from echomq_console.server.wire import Wire

    wire = Wire(Address.parse(aim.url), name="echomq-console", read_only=True)
    try:
        await wire.open()
    except Unreachable as error:
        raise NoServer(
            f"{str(error).rstrip('.')} (name a server with --url or ECHOMQ_URL, or start one: `echomq-console demo`)"
        ) from None
    try:
        yield wire
    finally:
        await wire.close()


def session_of(aim: Aim, wire: Wire) -> Session:
    """Make the operator's session at the server. Raises InvalidAddress."""
    from echomq_console.actions.session import Session
    from echomq_console.audit.log import AuditLog
    from echomq_console.server.address import Address

    return Session(Address.parse(aim.url), wire, AuditLog(), aim.thresholds, read_only=aim.read_only)


def _job_ms(text: str) -> int:
    """Read T. Without any time, every entry would be nobody's work, and every guard would be off."""
    job_ms = read_duration(text, "--job-time")
    if job_ms == 0:
        raise Misused("--job-time is the longest a job may take: more than 0, like 30s or 5m")
    return job_ms
