"""A small TCP proxy that stands for the network: it drops connections, loses answers, and holds them back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

_BLOCK = 256 * 1024


class Link:
    """One connection through the proxy. `lose`: its next answer never arrives. `open`: cleared, nothing passes."""

    def __init__(self, here: asyncio.StreamWriter, there: asyncio.StreamWriter) -> None:
        self.here = here
        self.there = there
        self.lose = False
        self.open = asyncio.Event()
        self.open.set()

    def cut(self, *, rudely: bool = False) -> None:
        """End it from both sides; rudely: with a reset."""
        self.open.set()
        for writer in (self.here, self.there):
            if rudely:
                writer.transport.abort()
            else:
                writer.close()


class Proxy:
    """Listens on a port of its own and passes on to `port()`, which may change when a server comes back.

    `lost` counts the answers it lost.
    """

    def __init__(self, port: Callable[[], int]) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._links: set[Link] = set()
        self._word: bytes | None = None
        self.lost = 0

    @property
    def url(self) -> str:
        """Where clients find it."""
        assert self._server is not None
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for link in tuple(self._links):
            link.cut()
        await self._server.wait_closed()
        async with asyncio.timeout(10):
            while self._links:  # noqa: ASYNC110  # each link takes itself off when both of its directions have ended
                await asyncio.sleep(0.005)

    @property
    def has_links(self) -> bool:
        """Whether there are connections just now."""
        return bool(self._links)

    def drop(self, share: float, chance: random.Random) -> int:
        """Drop a share of the connections, at least one, some of them with a reset; returns how many."""
        dropped = self._some(share, chance)
        for link in dropped:
            link.cut(rudely=chance.random() < 0.5)
        return len(dropped)

    def lose(self, word: bytes) -> None:
        """Pass the next request that holds a word on, and end the connection instead of bringing its answer."""
        self._word = word

    async def stall(self, share: float, seconds: float, chance: random.Random) -> int:
        """Hold back everything on a share of the connections, at least one, and close none; returns how many."""
        held = self._some(share, chance)
        for link in held:
            link.open.clear()
        await asyncio.sleep(seconds)
        for link in held:
            link.open.set()
        return len(held)

    def _some(self, share: float, chance: random.Random) -> list[Link]:
        links = list(self._links)
        return chance.sample(links, min(len(links), max(1, round(share * len(links)))))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there = await asyncio.open_connection("127.0.0.1", self._port())
        except OSError:
            writer.close()
            return
        link = Link(writer, there)
        self._links.add(link)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._requests(reader, link))
                both.create_task(self._answers(there_reader, link))
        except* OSError:
            pass  # a connection that was dropped, here or there
        finally:
            link.cut()
            self._links.discard(link)

    async def _requests(self, reader: asyncio.StreamReader, link: Link) -> None:
        while data := await reader.read(_BLOCK):
            await link.open.wait()
            if self._word is not None and self._word in data:
                self._word = None
                link.lose = True
            link.there.write(data)
            await link.there.drain()
        link.cut()

    async def _answers(self, reader: asyncio.StreamReader, link: Link) -> None:
        while data := await reader.read(_BLOCK):
            await link.open.wait()
            if link.lose:
                self.lost += 1
                break
            link.here.write(data)
            await link.here.drain()
        link.cut()
