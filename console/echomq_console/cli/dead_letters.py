"""`dead-letters`: what was given up, from where, after how many tries, and why."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from .aim import Aim, aim_of, connected, later
from .options import JsonOption, StreamArgument, UrlOption, Work


def dead_letters(
    ctx: typer.Context,
    stream: StreamArgument,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many, oldest first.")] = 100,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> Work:
    """List the dead letters of a stream, oldest first. STREAM is the stream they came from, not their own key."""
    return later(_list, aim_of(ctx.obj, url), os.fsencode(stream), limit, as_json)


async def _list(aim: Aim, stream: bytes, limit: int, as_json: bool) -> int:
    from echomq_console.observe.look import dead_letters_page
    from echomq_console.present.dead_letters import dead_letters_view
    from echomq_console.present.documents import dead_letters_document

    from .looking import look_at_server
    from .printing import Printer

    async with connected(aim) as wire:
        snapshot = await look_at_server(wire, aim.thresholds)
        entries = await dead_letters_page(wire, stream, limit + 1)
    complete, entries = len(entries) <= limit, entries[:limit]
    printer = Printer()
    if as_json:
        printer.json(dead_letters_document(snapshot, stream, entries, complete=complete))
        return 0
    printer.table(dead_letters_view(entries, snapshot.taken_at_ms))
    if not complete:
        printer.say(f"… and more: --limit {limit} was reached", "dim")
    return 0
