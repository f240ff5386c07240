"""`diagnose`: what is wrong, by what evidence, and the recovery that fits; its exit status is fit for a check."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from .aim import Aim, aim_of, connected, later
from .boundary import CRITICAL, WARNINGS, WELL
from .errors import CannotTell
from .options import JobTimeOption, JsonOption, UrlOption, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from echomq_console.model.finding import Finding
    from echomq_console.model.snapshot import GroupState, Snapshot

    from .printing import Printer


def diagnose(
    ctx: typer.Context,
    stream: Annotated[str | None, typer.Argument(metavar="STREAM", help="Only this stream.")] = None,
    group: Annotated[str | None, typer.Argument(metavar="GROUP", help="Only this group of it.")] = None,
    *,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    as_json: JsonOption = False,
) -> Work:
    """Say what is wrong, why, and which recovery fits.

    Exit status: 0 nothing is, 1 warnings, 2 critical, 3 it could not be told. One look cannot tell for how long nobody
    has read from a group without consumers.
    """
    names = tuple(os.fsencode(name) for name in (stream, group) if name is not None)
    return later(_diagnose, aim_of(ctx.obj, url, job_time), names, as_json)


async def _diagnose(aim: Aim, names: tuple[bytes, ...], as_json: bool) -> int:
    from echomq_console.diagnosis import diagnose as apply_rules
    from echomq_console.present.documents import diagnose_document

    from .notes import print_notes
    from .printing import Printer

    snapshot = await _look(aim, names)
    examined = [group for _, group in snapshot.groups() if group.key[: len(names)] == names]
    keys = {group.key for group in examined}
    findings = [f for f in apply_rules(snapshot, (), aim.thresholds) if (f.stream, f.group) in keys]
    printer = Printer()
    if as_json:
        printer.json(diagnose_document(snapshot, findings))
    else:
        _print(printer, findings, examined)
        print_notes(snapshot)
    return _status(findings, examined, snapshot)


async def _look(aim: Aim, names: tuple[bytes, ...]) -> Snapshot:
    from .looking import look, look_at_group, look_at_stream

    async with connected(aim) as wire:
        match names:
            case (stream, group):
                return await look_at_group(wire, aim.thresholds, stream, group)
            case (stream,):
                return await look_at_stream(wire, aim.thresholds, stream)
            case _:
                return await look(wire, aim.thresholds)


def _status(findings: Sequence[Finding], examined: Sequence[GroupState], snapshot: Snapshot) -> int:
    """The worst that was found; what could not be looked at is not called well. Raises CannotTell."""
    from echomq_console.model.finding import Severity

    worst = max((finding.severity for finding in findings), default=Severity.INFO)
    if worst >= Severity.WARNING:
        return CRITICAL if worst is Severity.CRITICAL else WARNINGS
    unread = [group for group in examined if group.problem is not None]
    if unread:
        raise CannotTell(f"cannot tell: {len(unread)} of {len(examined)} groups could not be read: {unread[0].problem}")
    if snapshot.problems and not examined:
        raise CannotTell(f"cannot tell: {snapshot.problems[-1]}")
    return WELL


def _print(printer: Printer, findings: Sequence[Finding], examined: Sequence[GroupState]) -> None:
    from echomq_console.model.text import harmless
    from echomq_console.present.findings import finding_text
    from echomq_widgets.views import Cell

    for finding in findings:
        printer.lines([(Cell(f"{harmless(finding.stream)} › {harmless(finding.group)}", "accent", bold=True),)])
        printer.text(finding_text(finding))
        printer.say()
    troubled = {(finding.stream, finding.group) for finding in findings}
    well = sum(1 for group in examined if group.key not in troubled and group.problem is None)
    if well or not findings:
        printer.say(f"● {well:,} {'group is' if well == 1 else 'groups are'} well", "good")
