"""`consumers`: who reads through a group, and what each holds."""

from __future__ import annotations

import os

import typer

from .aim import Aim, aim_of, connected, later
from .options import GroupArgument, JobTimeOption, JsonOption, StreamArgument, UrlOption, Work


def consumers(
    ctx: typer.Context,
    stream: StreamArgument,
    group: GroupArgument,
    *,
    url: UrlOption = None,
    job_time: JobTimeOption = None,
    as_json: JsonOption = False,
) -> Work:
    """List a group's consumers: what each holds, when it last tried to read, when it last got something.

    States: reading, quiet (holds nothing), gone (not seen for T, and everything it holds is idle for T), silent (the
    same on servers before 7.2, which cannot tell), unknown.
    """
    names = os.fsencode(stream), os.fsencode(group)
    return later(_list, aim_of(ctx.obj, url, job_time), *names, as_json)


async def _list(aim: Aim, stream: bytes, name: bytes, as_json: bool) -> int:
    from echomq_console.present.consumers import consumers_view
    from echomq_console.present.documents import consumers_document

    from .looking import look_at_group
    from .notes import print_notes
    from .printing import Printer

    async with connected(aim) as wire:
        snapshot = await look_at_group(wire, aim.thresholds, stream, name)
    group = snapshot.group(stream, name)
    assert group is not None
    printer = Printer()
    if as_json:
        printer.json(consumers_document(snapshot, group, aim.thresholds))
    else:
        printer.table(consumers_view(snapshot, group, aim.thresholds))
        print_notes(snapshot)
    return 0
