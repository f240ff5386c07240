"""Options that several commands share, and reading what was typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import typer

from .errors import Misused

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(?:[0-9]+(?:ms|s|m|h|d))+")
_PART = re.compile(r"([0-9]+)(ms|s|m|h|d)")
_LONGEST_MS = 100 * 365 * 86_400_000


Work: TypeAlias = Callable[[], int]
"""What a command line means, ready to be done: parsing gives this, doing it gives the exit status."""


@dataclass(frozen=True, slots=True)
class Root:
    """What was said before the command's name; a command's own option of the same name wins."""

    url: str | None = None
    job_time: str | None = None
    handler: str | None = None
    read_only: bool = False


UrlOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="The server: redis://, rediss://, valkey://, valkeys:// or unix://. A password is better given in "
        "ECHOMQ_PASSWORD. Default: $ECHOMQ_URL, else redis://127.0.0.1:6379.",
    ),
]
JobTimeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--job-time",
        metavar="DURATION",
        help="T, the longest a job may take: 30s, 5m, 1h30m. What is idle for T is nobody's work. Default: 5m.",
    ),
]
HandlerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--handler",
        metavar="HANDLER",
        help="The service's own code: module:function, or 'exec:PROGRAM ARG ...' (the entry as JSON on its input).",
    ),
]
ReadOnlyOption: TypeAlias = Annotated[
    bool, typer.Option("--read-only", help="Change nothing: no command that writes leaves this process.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]

StreamArgument: TypeAlias = Annotated[str, typer.Argument(metavar="STREAM", help="The stream's key, exactly.")]
GroupArgument: TypeAlias = Annotated[str, typer.Argument(metavar="GROUP", help="The consumer group.")]

MinIdleOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--min-idle", metavar="DURATION", help="Only entries idle for at least so long. Default: T."),
]
MaxAttemptsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-attempts",
        metavar="N",
        min=1,
        help="Entries delivered N times already go to the dead letters, not to the handler. Default: none do.",
    ),
]
BatchOption: TypeAlias = Annotated[
    int,
    typer.Option("--batch", metavar="N", min=1, max=1000, help="Entries per step; it can be stopped in between."),
]
DryRunOption: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Show the plan and change nothing.")]
YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", help="Run the plan without asking. Some plans also want --count.")
]
CountOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--count",
        metavar="N",
        help="How many entries you mean; it must be the plan's number. Wanted over 100 entries, and with warnings.",
    ),
]
ConfirmedOption: TypeAlias = Annotated[bool, typer.Option("--confirmed", hidden=True)]
EventsOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--events", metavar="-", help="Write one JSON line per event to standard output, and nothing else."),
]
StopOnEofOption: TypeAlias = Annotated[bool, typer.Option("--stop-on-eof", hidden=True)]


def read_duration(text: str, option: str) -> int:
    """Read a length of time as milliseconds: 250ms, 30s, 5m, 1h30m. Raises Misused."""
    said = text.strip()
    if said.isascii() and said.isdigit():
        if int(said[:20]) == 0:
            return 0
        raise Misused(f"{option} {said[:20]}: say a unit, like {said[:20]}s or {said[:20]}m")
    if not said.isascii() or not _DURATION.fullmatch(said):
        raise Misused(f"{option} {said[:40]!r} is no length of time: write 250ms, 30s, 5m or 1h30m")
    total = sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(said))
    if total > _LONGEST_MS:
        raise Misused(f"{option} {said[:40]} is longer than a century")
    return total


def min_idle_ms(text: str | None) -> int | None:
    """Read `--min-idle`; None where it was not said, which means T. Raises Misused."""
    return None if text is None else read_duration(text, "--min-idle")
