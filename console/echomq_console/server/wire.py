"""The wire: one connection to one server, raw replies, bytes end to end.

It carries the client library's own connection object, which brings TLS, ACL and sockets, and nothing of its reply
parsing: the parsers fold an entry's fields into a dict and lose repeated names. Commands are never sent again by
themselves: a resend of XREADGROUP whose reply was lost would leave the first batch pending, unseen (seen on real
servers).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import hiredis
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from .address import Address
from .commands import Command
from .errors import Denied, Refused, ServerError, UnknownCommand, Unreachable, translate
from .guard import require_looking

Arg: TypeAlias = bytes | str | int
Reply: TypeAlias = Any
"""A raw reply: None, an int, bytes, or a list of replies; inside a list also a ServerError."""

Client: TypeAlias = "Redis | RedisCluster"
"""What a program hands to the engine: a client of the `redis` package; the engine takes its own connections from it."""

DEADLINE = 5.0
"""Seconds to wait for an answer, unless told otherwise."""


def pack(*args: Arg) -> bytes:
    """Encode one command; text is UTF-8."""
    return _pack(_encoded(args))


def _pack(command: tuple[bytes, ...]) -> bytes:
    packed: bytes = hiredis.pack_command(command)  # type: ignore[arg-type]  # its stub means a tuple of any length
    return packed


def _encoded(args: Sequence[Arg]) -> tuple[bytes, ...]:
    return tuple(a if isinstance(a, bytes) else str(a).encode("utf-8", "surrogateescape") for a in args)


class Wire:
    """One connection. `call` and `pipeline` may be used by several tasks: each round trip has the wire to itself.

    It opens itself at the first use, and again after it was lost; what was under way then raises Unreachable and is
    not sent again. `read_only` lets only looking pass, before a byte is sent. `key`: on a cluster, its key: it
    connects to the node that holds it, found anew at every opening.
    """

    def __init__(
        self,
        source: Address | Client,
        *,
        name: str | None = None,
        deadline: float = DEADLINE,
        read_only: bool = False,
        key: bytes = b"",
    ) -> None:
        self._cluster = source if isinstance(source, RedisCluster) else None
        self._key = key
        self._pool: ConnectionPool | None = None
        self.address = "the cluster"
        if isinstance(source, Address):
            self._pool, self.address = source.pool(), source.shown
        elif not isinstance(source, RedisCluster):
            self._pool = source.connection_pool
            self.address = _pool_address(source.connection_pool)
        self.name = name
        self.deadline = deadline
        self.read_only = read_only
        self._connection: AbstractConnection | None = None
        self._lock = asyncio.Lock()

    @property
    def is_open(self) -> bool:
        """Whether the connection stands, as far as this end knows."""
        return self._connection is not None and bool(self._connection.is_connected)

    async def open(self) -> None:
        """Connect, if not connected. Raises Unreachable or Refused."""
        async with self._lock:
            await self._open()

    async def close(self) -> None:
        """Close the connection; the wire can be opened again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await _quietly_disconnect(connection)

    async def call(self, *args: Arg, deadline: float | None = None) -> Reply:
        """Send one command and return its reply. Raises a ServerError."""
        reply = (await self.pipeline([args], deadline=deadline))[0]
        if isinstance(reply, ServerError):
            raise reply
        return reply

    async def ask(self, command: Command[Any], *, deadline: float | None = None) -> Any:
        """Send one typed command and return what it means. Raises a ServerError."""
        return command.parse(await self.call(*command.args, deadline=deadline))

    async def ask_all(self, commands: Sequence[Command[Any]], *, deadline: float | None = None) -> list[Any]:
        """Send typed commands in one round trip; the place of a refused one holds its ServerError."""
        replies = await self.pipeline([command.args for command in commands], deadline=deadline)
        return [
            reply if isinstance(reply, ServerError) else command.parse(reply)
            for command, reply in zip(commands, replies, strict=True)
        ]

    async def pipeline(self, commands: Sequence[Sequence[Arg]], *, deadline: float | None = None) -> list[Reply]:
        """Send commands in one round trip; the place of a refused one holds its ServerError.

        Raises Unreachable where the connection is lost or the deadline (seconds) passes, ReadOnly before sending.
        """
        packed = self.packed(commands)
        async with self._lock:
            await self._open()
            try:
                async with asyncio.timeout(self.deadline if deadline is None else deadline):
                    await self.send(packed)
                    return [await self.receive(command) for command in commands]
            except TimeoutError as error:
                await self.close()
                raise translate(error, address=self.address) from None
            except BaseException:
                await self.close()  # replies may still be on their way: this connection cannot be used again
                raise

    def packed(self, commands: Iterable[Sequence[Arg]]) -> bytes:
        """Encode commands for `send`. Raises ReadOnly where one would write and the wire only looks."""
        encoded = [_encoded(command) for command in commands]
        if self.read_only:
            for command in encoded:
                require_looking(command)
        return b"".join(map(_pack, encoded))

    async def send(self, packed: bytes) -> None:
        """Send encoded commands on an open wire; no deadline of its own. Raises Unreachable."""
        connection = self._standing()
        try:
            await connection.send_packed_command(packed, check_health=False)
        except (RedisError, OSError) as error:
            raise translate(error, address=self.address) from None

    async def receive(self, command: Sequence[Arg] = ()) -> Reply:
        """Read one reply off an open wire; no deadline of its own; an answered error is returned, not raised.

        Raises Unreachable where the connection is lost, Refused where the server wants other credentials.
        """
        connection = self._standing()
        try:
            reply = await connection.read_response(disable_decoding=True)
        except (RedisError, OSError) as error:
            translated = translate(error, command, self.address)
            if isinstance(translated, Unreachable | Refused):  # the library has closed the connection already
                raise translated from None
            return translated
        if isinstance(reply, list):
            for index, item in enumerate(reply):
                if isinstance(item, RedisError):
                    reply[index] = translate(item, command, self.address)
        return reply

    def _standing(self) -> AbstractConnection:
        if self._connection is None or not self._connection.is_connected:
            raise Unreachable(f"the connection to {self.address} was lost")
        return self._connection

    async def _open(self) -> None:
        if self.is_open:
            return
        await self.close()
        try:
            async with asyncio.timeout(self.deadline):
                pool = self._pool or await self._node()
        except (RedisError, OSError, TimeoutError) as error:
            raise translate(error, address=self.address) from None
        connection = _private_connection(pool)
        try:
            async with asyncio.timeout(self.deadline):
                await connection.connect()  # type: ignore[no-untyped-call]
                self._connection = connection
                if self.name is not None:
                    await self._introduce(self.name)
        except TimeoutError as error:
            await _quietly_disconnect(connection)
            raise translate(error, address=self.address) from None
        except (RedisError, OSError) as error:
            await _quietly_disconnect(connection)
            raise translate(error, address=self.address) from None
        except BaseException:
            await _quietly_disconnect(connection)  # cancelled: an answer may still be on its way
            raise

    async def _node(self) -> ConnectionPool:
        """Find the node of a cluster that holds the key now: after a failover or a move it is another one."""
        assert self._cluster is not None
        await self._cluster.initialize()
        await self._cluster.nodes_manager.initialize()
        node = self._cluster.get_node_from_key(self._key)  # type: ignore[arg-type]  # it takes bytes as well
        if node is None:
            raise RedisConnectionError("no node holds the key")
        self.address = f"redis://{node.host}:{node.port}"
        return ConnectionPool(connection_class=node.connection_class, **node.connection_kwargs)

    async def _introduce(self, name: str) -> None:
        """Tell the server our name; a user without that permission stays anonymous."""
        command = ("CLIENT", "SETNAME", "".join(c if "!" <= c <= "~" else "_" for c in name))
        await self.send(pack(*command))
        reply = await self.receive(command)
        if isinstance(reply, ServerError) and not isinstance(reply, Denied | UnknownCommand):
            raise reply


def _private_connection(pool: ConnectionPool) -> AbstractConnection:
    """Make a connection outside the pool: no retries, no time-outs of its own, raw bytes, RESP2, no introductions.

    RESP2 on every server: one shape of replies. The library's own greeting (CLIENT SETINFO) is left out because a
    user without that permission would leave a trace in the server's ACL LOG.
    """
    options = dict(pool.connection_kwargs)
    for name in ("retry", "retry_on_error", "lib_name", "lib_version", "driver_info", "client_name"):
        options.pop(name, None)
    options.update(
        socket_timeout=None,
        retry_on_timeout=False,
        decode_responses=False,
        protocol=2,
        health_check_interval=0,
        driver_info=None,
        maint_notifications_config=None,
    )
    options.setdefault("socket_connect_timeout", DEADLINE)
    connection: AbstractConnection = pool.connection_class(**options)
    return connection


async def _quietly_disconnect(connection: AbstractConnection) -> None:
    try:
        await connection.disconnect(nowait=True)
    except (RedisError, OSError):
        return


def _pool_address(pool: ConnectionPool) -> str:
    options = pool.connection_kwargs
    if "path" in options:
        return f"unix://{options['path']}"
    return f"redis://{options.get('host', 'localhost')}:{options.get('port', 6379)}"
