"""Run a full consumer here, as an operator declared it: audit, consume until told to stop, audit."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from echomq_console.audit.log import AuditedAction, AuditError
from echomq_console.engine import Consumer, DeadLetter, Listener, Report, Start, StartAt
from echomq_console.engine.errors import EngineError
from echomq_console.model.encoding import json_bytes
from echomq_console.server.errors import ServerError

from .contained import contained_handler
from .session import Session

COUNTED = ("delivered", "acknowledged", "failed", "dead_lettered", "deleted", "lost")
"""What a consumer counts, as its report names it."""


@dataclass(frozen=True, slots=True)
class Service:
    """A full consumer, as it is declared. Times in milliseconds; what is None is off.

    `grace_ms`: how long a handler that runs may still take after the word to stop; None: as long as it takes.
    """

    stream: bytes
    group: bytes
    name: bytes
    start: StartAt
    handler: str
    min_idle_ms: int
    beat_ms: int = 1000
    count: int = 100
    concurrency: int = 1
    timeout_ms: int | None = None
    max_attempts: int | None = None
    retry_delay_ms: int = 0
    recreate: StartAt | None = None
    grace_ms: int | None = None

    def settings(self) -> dict[str, Any]:
        """Say everything but the names as plain data."""
        return {
            "start": _place(self.start),
            "handler": self.handler,
            "min_idle_ms": self.min_idle_ms,
            "beat_ms": self.beat_ms,
            "page": self.count,
            "concurrency": self.concurrency,
            "timeout_ms": self.timeout_ms,
            "max_attempts": self.max_attempts,
            "retry_delay_ms": self.retry_delay_ms,
            "recreate": None if self.recreate is None else _place(self.recreate),
            "grace_ms": self.grace_ms,
        }


async def consume(
    session: Session,
    service: Service,
    *,
    listener: Listener,
    on_begun: Callable[[str, Report], None],
    stop: asyncio.Event,
) -> None:
    """Consume until `stop` is set. The handler runs in this process.

    `on_begun` gets the audit id and the consumer's totals, which go on counting. Raises ActionRefused, AuditError or
    HandlerNotFound before anything was changed; after that what cannot be survived: a ServerError, or GroupLost.
    """
    session.require_writable()
    consumer = _consumer(session, service, listener)
    audited = session.audit.begin(
        action="consume",
        actor=session.actor,
        server=session.address.shown,
        stream=json_bytes(service.stream),
        group=json_bytes(service.group),
        consumer=json_bytes(service.name),
        **service.settings(),
    )
    on_begun(audited.audit_id, consumer.totals)
    began = time.monotonic()
    try:
        await _until(stop, consumer, service)
    except BaseException as error:
        with contextlib.suppress(AuditError):  # the first trouble is the one to be told
            _write_outcome(audited, service, consumer.totals, began, _in_words(error))
        raise
    _write_outcome(audited, service, consumer.totals, began, None)


def totals_of(report: Report) -> dict[str, int]:
    """What a consumer did so far, by name."""
    return {name: getattr(report, name) for name in COUNTED}


def _consumer(session: Session, service: Service, listener: Listener) -> Consumer:
    return Consumer(
        session.address,
        stream=service.stream,
        group=service.group,
        name=service.name,
        start=service.start,
        handler=contained_handler(service.handler),
        min_idle=service.min_idle_ms / 1000,
        beat=service.beat_ms / 1000,
        count=service.count,
        concurrency=service.concurrency,
        dead_letter=None if service.max_attempts is None else DeadLetter(service.max_attempts),
        retry_delay=service.retry_delay_ms / 1000,
        timeout=None if service.timeout_ms is None else service.timeout_ms / 1000,
        recreate=service.recreate,
        listener=listener,
    )


async def _until(stop: asyncio.Event, consumer: Consumer, service: Service) -> None:
    """Run the consumer until `stop` is set. Raises what ended it before."""
    running = asyncio.create_task(consumer.run(), name="consumer")
    stopping = asyncio.create_task(stop.wait(), name="consumer-stop")
    try:
        await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await consumer.stop(None if service.grace_ms is None else service.grace_ms / 1000)
        await running
    finally:
        stopping.cancel()
        running.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)


def _write_outcome(audited: AuditedAction, service: Service, report: Report, began: float, error: str | None) -> None:
    """Write how it ended: the same names as any other outcome, and numbers only. Raises AuditError."""
    audited.write(
        "outcome",
        action="consume",
        stream=json_bytes(service.stream),
        group=json_bytes(service.group),
        done=report.acknowledged,
        **totals_of(report),
        seconds=round(time.monotonic() - began, 3),
        error=error,
    )


def _in_words(error: BaseException) -> str:
    if isinstance(error, ServerError | EngineError):
        return str(error)
    if isinstance(error, asyncio.CancelledError):
        return "ended at once: what ran is still pending"
    return f"unexpected {type(error).__name__}"


def _place(start: StartAt) -> str:
    return start.name.lower() if isinstance(start, Start) else str(start)
