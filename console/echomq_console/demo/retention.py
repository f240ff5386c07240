"""Retention: what is long settled leaves the stream, what anybody still holds never does.

Trimming by length or by smallest id cannot do both: while one old entry is pending, it either takes that entry or
keeps everything after it. So old entries are deleted one by one, in one step with the look at who holds them.
"""

from __future__ import annotations

from echomq_console.model.entry_id import EntryId
from echomq_console.server.commands import stream_info
from echomq_console.server.script import Script
from echomq_console.server.wire import Wire

KEEP_MS = 15 * 60 * 1000
"""How old an entry is at least when it is removed."""

_REMOVE_SETTLED = Script(
    "remove settled entries",
    """
local names = {}
for _, said in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  for i = 1, #said, 2 do
    if said[i] == 'name' then names[#names + 1] = said[i + 1] end
  end
end
local settled, last = {}, ARGV[1]
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], ARGV[2], 'COUNT', ARGV[3])) do
  last = entry[1]
  local held = false
  for _, name in ipairs(names) do
    held = held or #redis.call('XPENDING', KEYS[1], name, last, last, 1) > 0
  end
  if not held then settled[#settled + 1] = last end
end
if #settled > 0 then redis.call('XDEL', KEYS[1], unpack(settled)) end
return last
""",
)


class Retention:
    """Walks behind the end of one stream. What was there before it began is kept for good: the incident is in it.

    What is held when its turn comes is kept for good too.
    """

    def __init__(self, stream: bytes, *, keep_ms: int = KEEP_MS) -> None:
        self._stream = stream
        self._keep_ms = keep_ms
        self._reached: EntryId | None = None

    async def step(self, wire: Wire, now_ms: int, *, count: int = 200) -> None:
        """Look at the next entries older than `keep_ms`, and remove the settled ones. Raises a ServerError."""
        if self._reached is None:
            self._reached = (await wire.ask(stream_info(self._stream))).last_generated_id
            return
        oldest_kept = EntryId(max(0, now_ms - self._keep_ms), 0)
        if self._reached < oldest_kept:
            arguments = (bytes(self._reached), b"(" + bytes(oldest_kept), count)
            self._reached = EntryId.parse(await _REMOVE_SETTLED.run(wire, [self._stream], arguments))
