"""Scripts: several steps the server does as one, and only if what was seen is still so."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from .errors import CommandError
from .wire import Arg, Reply, Wire


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script. `name` is what audit lines and error messages call it."""

    name: str
    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute the digest the server knows it by (the protocol's choice, no secret rests on it)."""
        object.__setattr__(self, "sha", hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest())

    async def run(
        self, wire: Wire, keys: Sequence[bytes], args: Sequence[Arg], *, deadline: float | None = None
    ) -> Reply:
        """Run it, sending its text where the server has not seen it yet. Raises a ServerError.

        All keys are declared. NOSCRIPT means nothing ran, so sending it again is safe.
        """
        try:
            return await wire.call("EVALSHA", self.sha, len(keys), *keys, *args, deadline=deadline)
        except CommandError as error:
            if "No matching script" not in str(error) and "NOSCRIPT" not in str(error):
                raise
        return await wire.call("EVAL", self.source, len(keys), *keys, *args, deadline=deadline)
