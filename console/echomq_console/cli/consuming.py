"""`consume` at work: the stream is there or may be made, the consumer runs, and its log says what happens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from .aim import Aim, connected, session_of
from .boundary import BROKEN_PIPE, TROUBLE, WELL, complain
from .errors import Cancelled, Misused, NotConfirmed, Unfinished
from .outlet import Outlet, own_output
from .service_log import ServiceLog
from .stopping import EndedAtOnce, run_until_told

if TYPE_CHECKING:
    from echomq_console.actions.consuming import Service
    from echomq_console.actions.session import Session
    from echomq_console.engine import Event, Report
    from echomq_console.server.wire import Wire


@dataclass(frozen=True, slots=True)
class Consuming:
    """One run of `consume`, ready to be done.

    `events`: "-" or a file. `report_ms`: between two lines of totals, 0: only at the end. `stop_on_eof`: the parent
    stops it by closing its standard input.
    """

    aim: Aim
    service: Service
    create: bool
    events: str | None
    log_format: str
    log_level: str
    report_ms: int
    stop_on_eof: bool

    def work(self) -> int:
        """Consume until told to stop; returns the exit status. Raises what ended it, in one clear line."""
        self._session().require_writable()
        create = self.create or self._was_asked()
        with _telling(self) as telling, telling.log.hearing():
            return self._run(telling, create)

    def _was_asked(self) -> bool:
        """Whether somebody is there to be asked, and let the stream be made. Raises Cancelled where the word was no."""
        if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        stream = self.service.stream
        if not asyncio.run(_is_there(self.aim, stream)) and not typer.confirm(
            f"There is no stream {_shown(stream)}. Make it, with the group {_shown(self.service.group)}?", err=True
        ):
            raise Cancelled("cancelled: nothing was changed")
        return True

    def _run(self, telling: Telling, create: bool) -> int:
        async def main(stop: asyncio.Event) -> None:
            telling.stops_by(stop)
            await self._consume(telling, create, stop)

        try:
            _, number = run_until_told(main, watched_input=0 if self.stop_on_eof else None)
        except EndedAtOnce as ended:
            telling.end("ended at once")
            complain("ended at once: what ran is still pending, and its handler may have done it all the same")
            return 128 + ended.signal_number
        except Exception as error:
            telling.end("gave up")
            line = _in_plain_words(error, self.service)
            if line is None:
                raise
            if self.log_format == "json":
                telling.log.say("error", "error", message=line)
                return TROUBLE
            raise Unfinished(line) from None
        if telling.is_unheard:
            telling.end("nobody reads the events")
            return BROKEN_PIPE
        telling.end("end of input" if number is None else signal.Signals(number).name)
        return WELL

    async def _consume(self, telling: Telling, create: bool, stop: asyncio.Event) -> None:
        from echomq_console.actions.consuming import consume

        session = self._session()
        if not create:
            await _require_stream(session.wire, self.service.stream, telling.log, stop)
        if stop.is_set():
            return
        reporting = asyncio.create_task(telling.report(self.report_ms / 1000, stop), name="report")
        try:
            await consume(session, self.service, listener=telling.listen, on_begun=telling.begin, stop=stop)
        finally:
            reporting.cancel()
            await asyncio.gather(reporting, return_exceptions=True)

    def _session(self) -> Session:
        """The operator's session; its wire only looks. Raises InvalidAddress."""
        from echomq_console.server.address import Address
        from echomq_console.server.wire import Wire

        return session_of(self.aim, Wire(Address.parse(self.aim.url), name="echomq-console", read_only=True))


class Telling:
    """Says what the consumer does: in the log, on standard error, and event by event where that is wanted."""

    def __init__(self, consuming: Consuming, events: int | None) -> None:
        self._consuming = consuming
        self._errors = Outlet(sys.stderr.fileno(), missed=self._missed_lines)
        self.log = ServiceLog(self._errors.write, form=consuming.log_format, level=consuming.log_level)
        self._events = None if events is None else Outlet(events, missed=_missed_events, on_broken=self._unheard)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._totals: Report | None = None
        self._began = self._reported_at = time.monotonic()
        self._reported = 0

    @property
    def is_unheard(self) -> bool:
        """Whether the reader of standard output has gone."""
        return self._consuming.events == "-" and self._events is not None and self._events.broken is not None

    def stops_by(self, stop: asyncio.Event) -> None:
        """Learn how to stop the consumer, for when nobody reads its events any more."""
        self._loop, self._stop = asyncio.get_running_loop(), stop

    def begin(self, audit_id: str, totals: Report) -> None:
        """Say what is started, and under which id it is recorded."""
        service = self._consuming.service
        self._totals = totals
        self._write_event({"event": "audit", "audit_id": audit_id})
        self.log.say(
            "info",
            "started",
            stream=service.stream,
            group=service.group,
            name=service.name,
            server=self._shown_server(),
            **service.settings(),
            audit_id=audit_id,
            pid=os.getpid(),
        )

    def listen(self, event: Event) -> None:
        """Take one event of the engine."""
        if self._events is not None:
            self._write_event(event.as_dict())
        self.log.listen(event)

    async def report(self, every: float, stop: asyncio.Event) -> None:
        """Say the totals every so many seconds (0: never), and when the consumer is told to stop."""
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(every or None):
                    await stop.wait()
            if not stop.is_set():
                self._say_totals("totals")
        self.log.say("info", "stopping")

    def end(self, why: str) -> None:
        """Say the totals at the end, if it had begun."""
        if self._totals is not None:
            self._say_totals("stopped", why=why, seconds=round(time.monotonic() - self._began, 3))

    def close(self) -> None:
        """Write what still waits."""
        for outlet in (self._events, self._errors):
            if outlet is not None:
                outlet.close()

    def _say_totals(self, event: str, **more: Any) -> None:
        from echomq_console.actions.consuming import totals_of

        assert self._totals is not None
        now, done = time.monotonic(), self._totals.acknowledged
        rate = round((done - self._reported) / max(now - self._reported_at, 0.001), 1)
        self._reported, self._reported_at = done, now
        said = {**totals_of(self._totals), "acknowledged_per_second": rate, **more}
        self._write_event({"event": event, **said})
        self.log.say("info", event, **said)

    def _write_event(self, said: dict[str, Any]) -> None:
        if self._events is not None:
            line = json.dumps(said, separators=(",", ":")) + "\n"
            self._events.write(line.encode("utf-8", "backslashreplace"))

    def _unheard(self, error: OSError) -> None:
        """Stop where the reader of standard output has gone; a file that cannot be written is no reason to."""
        if self._consuming.events != "-":
            self.log.say("error", "events_file", message=f"no more events are written: {error.strerror or error}")
        elif self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._stop.set)

    def _missed_lines(self, count: int) -> bytes:
        return self.log.line("warning", "missed", {"lines": count})

    def _shown_server(self) -> str:
        from echomq_console.server.address import Address

        return Address.parse(self._consuming.aim.url).shown


@contextlib.contextmanager
def _telling(consuming: Consuming) -> Iterator[Telling]:
    """Open the ways out, and see to it that all is written in the end. Raises Misused for a file that cannot be."""
    with own_output() as output, contextlib.ExitStack() as files:
        descriptor = output if consuming.events == "-" else None
        if consuming.events not in (None, "-"):
            descriptor = _opened(str(consuming.events))
            files.callback(os.close, descriptor)
        telling = Telling(consuming, descriptor)
        try:
            yield telling
        finally:
            telling.close()


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Misused(f"--events {path!r} cannot be written: {error.strerror or error}") from None


def _missed_events(count: int) -> bytes:
    return json.dumps({"event": "missed", "lines": count}, separators=(",", ":")).encode() + b"\n"


async def _is_there(aim: Aim, stream: bytes) -> bool:
    """Whether a stream exists. Raises NoServer, or what the server refuses."""
    from echomq_console.server.commands import stream_groups
    from echomq_console.server.errors import NoKey

    async with connected(aim) as wire:
        try:
            await wire.ask(stream_groups(stream))
        except NoKey:
            return False
    return True


async def _require_stream(wire: Wire, stream: bytes, log: ServiceLog, stop: asyncio.Event) -> None:
    """Raise NotConfirmed where the stream does not exist. A server that is away is waited for, as the consumer does."""
    from echomq_console.engine.backoff import Backoff
    from echomq_console.engine.events import Disconnected, Reconnected
    from echomq_console.server.commands import stream_groups
    from echomq_console.server.errors import NoKey, Unreachable

    backoff = Backoff()
    try:
        while not stop.is_set():
            try:
                await wire.ask(stream_groups(stream))
            except NoKey:
                raise NotConfirmed(
                    f"there is no stream {_shown(stream)}: check the name, or say --create to make it"
                ) from None
            except Unreachable as error:
                seconds = backoff.next()
                log.listen(Disconnected(str(error), seconds))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await stop.wait()
            else:
                if backoff.attempts:
                    log.listen(Reconnected(backoff.attempts))
                return
    finally:
        await wire.close()


def _in_plain_words(error: Exception, service: Service) -> str | None:
    """What ended a consumer, in one line; None for what nobody expected."""
    from echomq_console.actions.session import ActionRefused
    from echomq_console.audit.log import AuditError
    from echomq_console.engine.errors import EngineError, GroupLost
    from echomq_console.server.errors import ServerError, WrongType

    from .errors import CommandLineError

    if isinstance(error, WrongType):
        return f"{_shown(service.stream)} holds something that is no stream ({error})"
    if isinstance(error, GroupLost):
        return f"{error} (--recreate new or --recreate head would make it again)"
    if isinstance(error, CommandLineError | ServerError | EngineError | ActionRefused | AuditError):
        return str(error)
    return None


def _shown(name: bytes) -> str:
    from echomq_console.model.text import harmless

    return f"'{harmless(name, 120)}'"
