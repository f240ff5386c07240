"""Identity: who the server is, and which connections call themselves a consumer's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from echomq_console.model.snapshot import ServerIdentity

_PREFIX = "echomq:"


def identity_of(address: str, server: Mapping[str, str], replication: Mapping[str, str]) -> ServerIdentity:
    """Read `INFO server` and `INFO replication`.

    Valkey says `valkey_version` and answers `redis_version:7.2.4` beside it for old clients; Redis has only the latter.
    """
    product, said = "valkey", server.get("valkey_version")
    if said is None:
        product, said = server.get("server_name", "redis"), server.get("redis_version")
    if said is None:
        return ServerIdentity(address, role=replication.get("role"))
    return ServerIdentity(address, product, _version(said), replication.get("role"))


def tagged_connections(clients: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Addresses of the connections that say which consumer they are: `echomq:<group>:<name>` -> addresses."""
    found: dict[str, tuple[str, ...]] = {}
    for client in clients:
        name = client.get("name", "")
        if name.startswith(_PREFIX):
            found[name] = (*found.get(name, ()), client.get("addr", "?"))
    return found


def connection_name(group: bytes, consumer: bytes) -> str:
    """What a consumer's connections call themselves; the server takes no spaces there, so those become `_`."""
    name = (b"%s:%s" % (group, consumer)).decode("utf-8", "surrogateescape")
    return _PREFIX + "".join(c if "!" <= c <= "~" else "_" for c in name)


def own_connections(
    tagged: Mapping[str, tuple[str, ...]], consumers: Sequence[tuple[bytes, bytes, bytes]]
) -> dict[tuple[bytes, bytes, bytes], tuple[str, ...]]:
    """Say which connections are known to be whose; a consumer is (stream, group, name).

    The name of a connection holds no stream, so where two consumers would be called the same nothing is known of
    either.
    """
    if not tagged:
        return {}
    names = {consumer: connection_name(consumer[1], consumer[2]) for consumer in consumers}
    claimants = Counter(names.values())
    return {consumer: tagged[name] for consumer, name in names.items() if name in tagged and claimants[name] == 1}


def _version(text: str) -> tuple[int, ...] | None:
    parts = text.strip().split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else None
