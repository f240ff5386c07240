"""A consumer in a process of its own, which writes its history as it lives: one JSON object a line.

Each line is one write to a file opened for appending, made before the thing counts: a handler's `begin` before it does
anything, its `ok` before the engine hears of it. A process that is killed loses nothing it has written. The first
argument is its options, as JSON. It ends when its standard input does, so that it never outlives whoever started it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from typing import Any

from redis.asyncio import Redis

from echomq_console.engine import (
    Acknowledged,
    Claimed,
    Consumer,
    DeadLetter,
    Delivered,
    Entry,
    Error,
    Event,
    Failed,
    Ok,
    Start,
    Verdict,
)
from echomq_console.engine.events import Beat
from echomq_console.server.address import Address

KILLED = 9
"""The exit status of a process that an entry has killed."""


class Diary:
    """The history of one process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def handler(self, what: str, n: int, attempts: int) -> None:
        """Note what a handler is about to do."""
        os.write(self._file, b'{"e":"%s","n":%d,"a":%d,"t":%.3f}\n' % (what.encode(), n, attempts, time.monotonic()))

    def listener(self, event: Event) -> None:
        """Note what the consumer says it did. Beats are left out unless they found something."""
        match event:
            case Delivered() | Failed():
                return  # the handler has said so itself
            case Beat(found=0):
                return
            case Acknowledged(ids=ids):
                said: dict[str, Any] = {"e": "acknowledged", "ids": ids}
            case Claimed(ids=ids):
                said = {"e": "claimed", "ids": ids, "how": event.how}
            case _:
                said = {"e": "engine", **event.as_dict()}
        self.line(said)

    def line(self, said: dict[str, Any]) -> None:
        """Note anything."""
        said["t"] = round(time.monotonic(), 3)
        os.write(self._file, json.dumps(said).encode() + b"\n")


class Handling:
    """What an entry's fields ask for, as a coroutine function or a plain one."""

    def __init__(self, diary: Diary) -> None:
        self._diary = diary

    async def in_the_loop(self, entry: Entry) -> Verdict:
        """Handle an entry in the event loop."""
        if seconds := self._begin(entry):
            await asyncio.sleep(seconds)
        return self._end(entry)

    def in_a_thread(self, entry: Entry) -> Verdict:
        """Handle an entry in a thread."""
        if seconds := self._begin(entry):
            time.sleep(seconds)
        return self._end(entry)

    def _begin(self, entry: Entry) -> float:
        self._diary.handler("begin", int(entry.payload[b"n"]), entry.attempts)
        return 0.0 if entry.payload[b"kind"] == b"fail" else float(entry.payload[b"how"])

    def _end(self, entry: Entry) -> Verdict:
        n, kind = int(entry.payload[b"n"]), entry.payload[b"kind"]
        if kind == b"killer":
            os._exit(KILLED)
        if kind in (b"poison", b"refused") or (kind == b"fail" and entry.attempts <= int(entry.payload[b"how"])):
            self._diary.handler("error", n, entry.attempts)
            return Error(kind.decode(), retry=kind != b"refused")
        self._diary.handler("ok", n, entry.attempts)
        return Ok()


async def consume(options: dict[str, Any], diary: Diary) -> None:
    """Consume until SIGTERM."""
    loop = asyncio.get_running_loop()
    handling = Handling(diary)
    client = Redis.from_url(options["url"]) if options["client"] else Address.parse(options["url"])
    consumer = Consumer(
        client,
        stream=options["stream"],
        group=options["group"],
        name=options["name"],
        start=Start.HEAD,
        handler=handling.in_a_thread if options["threads"] else handling.in_the_loop,
        min_idle=options["min_idle"],
        beat=options["beat"],
        concurrency=options["concurrency"],
        dead_letter=DeadLetter(options["limit"]),
        listener=diary.listener,
    )
    stops: list[asyncio.Task[None]] = []
    loop.add_signal_handler(signal.SIGTERM, lambda: stops.append(asyncio.create_task(consumer.stop())))
    loop.add_reader(0, os._exit, 3)
    diary.line({"e": "start", "pid": os.getpid()})
    await consumer.run()
    await asyncio.gather(*stops)
    diary.line({"e": "stop"})
    if isinstance(client, Redis):
        await client.aclose()


def main() -> None:
    """Run one consumer."""
    options = json.loads(sys.argv[1])
    asyncio.run(consume(options, Diary(options["history"])))


if __name__ == "__main__":
    main()
