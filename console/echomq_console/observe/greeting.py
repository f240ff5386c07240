"""The greeting: the first round trip of a poll asks for the clock, the server, and a step of the search for streams."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from echomq_console.model.snapshot import ServerIdentity
from echomq_console.server import commands
from echomq_console.server.commands import Command, ScanPage
from echomq_console.server.errors import ServerError

from .identity import identity_of, tagged_connections
from .permissions import Permissions

CONNECTIONS_EVERY = 5
MOST_CONNECTIONS = 1_000
"""CLIENT LIST is asked every few polls, and not at all on a server with more connections than this."""

Ask = Callable[[Sequence[Command[Any]]], Awaitable[list[Any]]]

_CONSEQUENCES = {
    "TIME": "ages are counted by this machine's clock",
    "SCAN": "streams cannot be found, only named",
    "INFO": "the server's version and role are not known",
    "CLIENT LIST": "which connection is whose is not known",
    "XRANGE": "rows whose entries were deleted are not all found",
}


class Greeting:
    """What is known of the server itself, and of what it lets this user ask.

    `clock`: seconds, for carrying the server's clock on between two answers; `wall_clock`: Unix seconds, used only
    where TIME is denied.
    """

    def __init__(
        self,
        address: str,
        ask: Ask,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.permissions = Permissions()
        self.identity = ServerIdentity(address)
        self.tagged: dict[str, tuple[str, ...]] = {}
        self.server_clock = True
        self._address = address
        self._ask = ask
        self._clock = clock
        self._wall_clock = wall_clock
        self._is_identified = False
        self._connected: int | None = None
        self._offset_ms = 0.0
        self._tick = 0

    def forget(self) -> None:
        """The connection is a new one: the server may be another by now, and the user may have other rights."""
        self.permissions.forget()
        self.identity = ServerIdentity(self._address)
        self.tagged = {}
        self._is_identified = False
        self._connected = None

    def now_ms(self) -> int:
        """The server's clock, Unix milliseconds."""
        return int(self._offset_ms + self._clock() * 1000)

    async def greet(self, tick: int, scan: Command[ScanPage] | None) -> ScanPage | None:
        """Ask, and return the page of the search, if one was wanted and allowed."""
        self._tick = tick
        is_connections_turn = not self._is_identified or tick % CONNECTIONS_EVERY == 0
        wanted: dict[str, Command[Any]] = {"TIME": commands.server_time()}
        if scan is not None:
            wanted["SCAN"] = scan
        if not self._is_identified:
            wanted["INFO server"] = commands.info("server")
            wanted["INFO replication"] = commands.info("replication")
        if is_connections_turn:
            wanted["INFO clients"] = commands.info("clients")
        answers = await self._answers(wanted)
        self._set_clock(answers.get("TIME"))
        if "INFO server" in answers:
            self.identity = identity_of(self._address, answers["INFO server"], answers.get("INFO replication", {}))
        if "INFO clients" in answers:
            self._connected = int(answers["INFO clients"].get("connected_clients", 0))
        self._is_identified = True
        if is_connections_turn:
            await self._look_for_connections()
        page: ScanPage | None = answers.get("SCAN")
        return page

    async def step(self, scan: Command[ScanPage]) -> ScanPage | None:
        """Ask for one more page of the search; None where that is denied."""
        page: ScanPage | None = (await self._answers({"SCAN": scan})).get("SCAN")
        return page

    def was_refused(self, name: str, reply: object) -> bool:
        """Note whether a command was refused."""
        permission = "INFO" if name.startswith("INFO") else name
        if isinstance(reply, ServerError):
            self.permissions.refuse(permission, reply, self._tick, _CONSEQUENCES[permission])
            return True
        self.permissions.allow(permission)
        return False

    async def _look_for_connections(self) -> None:
        """A long list costs the server milliseconds, and is not asked for."""
        if self._connected is not None and self._connected > MOST_CONNECTIONS:
            self.tagged = {}
            return
        answers = await self._answers({"CLIENT LIST": commands.client_list()})
        self.tagged = tagged_connections(answers.get("CLIENT LIST", ()))

    async def _answers(self, wanted: dict[str, Command[Any]]) -> dict[str, Any]:
        """Ask what is not known to be denied; what was refused is not among the answers."""
        asked = {name: command for name, command in wanted.items() if self._may(name)}
        if not asked:
            return {}
        replies = zip(asked, await self._ask(list(asked.values())), strict=True)
        return {name: reply for name, reply in replies if not self.was_refused(name, reply)}

    def _may(self, name: str) -> bool:
        return self.permissions.may("INFO" if name.startswith("INFO") else name, self._tick)

    def _set_clock(self, server_ms: int | None) -> None:
        self.server_clock = server_ms is not None
        now_ms = self._wall_clock() * 1000 if server_ms is None else server_ms
        self._offset_ms = now_ms - self._clock() * 1000
