"""The engine beside the best hand-written loop on the `redis` package: the same entries, the same server, one run.

    python benchmarks/engine.py [--entries N] [--rounds N] [--size BYTES]

Both sides read a stream of N entries through a group of their own and acknowledge every one. The loop reads 1,000 at a
time and acknowledges them in one XACK; it promises nothing else. The engine calls a handler that does nothing, with
every guarantee on: leases, owner-checked settling, a beat, a dead-letter policy. Sides alternate, and the median of the
paired ratios is what is claimed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import resource
import statistics
import time
from importlib import metadata
from typing import Any

from redis.asyncio import Redis

from echomq_console.engine import Consumer, DeadLetter, Entry, Ok, Start, Verdict
from echomq_console.engine.events import Acknowledged, Event
from echomq_console.server.embedded import EmbeddedServer

STREAM = "bench"


async def fill(client: Redis, entries: int, size: int) -> None:
    """Append entries of one field, a thousand to a round trip."""
    body = b"x" * size
    for at in range(0, entries, 1000):
        pipeline = client.pipeline(transaction=False)
        for _ in range(min(1000, entries - at)):
            pipeline.xadd(STREAM, {b"data": body})
        await pipeline.execute()


async def hand_written(url: str, group: str, entries: int) -> float:
    """Read 1,000, one XACK for all, until everything is acknowledged; seconds."""
    client = Redis.from_url(url)
    await client.xgroup_create(STREAM, group, id="0")
    began = time.perf_counter()
    done = 0
    while done < entries:
        reply: Any = await client.xreadgroup(group, "loop", {STREAM: ">"}, count=1000)
        ids = [entry_id for _, rows in reply for entry_id, _ in rows]
        for _ in ids:
            pass  # where a handler would be
        done += int(await client.xack(STREAM, group, *ids))
    seconds = time.perf_counter() - began
    await client.aclose()
    return seconds


async def engine(url: str, group: str, entries: int) -> float:
    """Consume everything with a handler that does nothing; seconds from the start of `run` to the last acknowledgement.

    The hand-written loop's group exists before its clock starts; so does this one's.
    """
    client = Redis.from_url(url)
    await client.xgroup_create(STREAM, group, id="0")
    finished = asyncio.Event()
    done = 0

    def listen(event: Event) -> None:
        nonlocal done
        if isinstance(event, Acknowledged):
            done += len(event.ids)
            if done >= entries:
                finished.set()

    async def handle(entry: Entry) -> Verdict:
        return Ok()

    consumer = Consumer(
        client,
        stream=STREAM,
        group=group,
        name="bench",
        start=Start.HEAD,
        handler=handle,
        dead_letter=DeadLetter(max_attempts=5),
        listener=listen,
    )
    began = time.perf_counter()
    running = asyncio.create_task(consumer.run())
    await finished.wait()
    seconds = time.perf_counter() - began
    await consumer.stop()
    await running
    await client.aclose()
    return seconds


async def main(entries: int, rounds: int, size: int) -> None:
    """Alternate both sides; print what came out as one JSON document."""
    loops: list[float] = []
    engines: list[float] = []
    with EmbeddedServer() as server:
        client = Redis.from_url(server.url)
        await fill(client, entries, size)
        for number in range(rounds):
            sides = [(hand_written, loops), (engine, engines)]
            for side, times in sides if number % 2 == 0 else sides[::-1]:
                group = f"{side.__name__}-{number}"
                times.append(await side(server.url, group, entries))
                await client.xgroup_destroy(STREAM, group)
        version = (await client.info("server")).get("valkey_version", "?")
        await client.aclose()
    ratios = [loop / own for loop, own in zip(loops, engines, strict=True)]
    print(
        json.dumps(
            {
                "entries": entries,
                "bytes": size,
                "rounds": rounds,
                "hand_written_per_s": round(entries / statistics.median(loops)),
                "engine_per_s": round(entries / statistics.median(engines)),
                "engine_over_hand_written": round(statistics.median(ratios), 2),
                "ratios": [round(ratio, 2) for ratio in ratios],
                "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "python": platform.python_version(),
                "redis": metadata.version("redis"),
                "hiredis": metadata.version("hiredis"),
                "valkey": version,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The engine beside a hand-written loop.")
    parser.add_argument("--entries", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--size", type=int, default=100)
    asked = parser.parse_args()
    asyncio.run(main(asked.entries, asked.rounds, asked.size))
