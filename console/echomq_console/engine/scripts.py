"""The scripts: steps the server does as one, each entry checked first.

Every script takes the stream as KEYS[1] and the group as ARGV[1]. None blocks the server for long: callers send chunks,
and what copies bodies stops after about a megabyte and leaves the rest to the next call.
"""

from __future__ import annotations

from echomq_console.server.script import Script

TAKE = Script(
    "take",
    """
-- ARGV: group, consumer, least idle (ms), then id, owner, count, and the count it gets, for each entry.
-- Says for each: taken + fields, gone (no longer pending), moved (not as seen), ghost (no body), later (too much).
-- XRANGE before XCLAIM: from 7.0 on XCLAIM silently drops the row of a deleted entry.
local group, me, least = ARGV[1], ARGV[2], tonumber(ARGV[3])
local out, bytes = {}, 0

-- The common case in four commands, whatever the number: neighbours in the list and in the stream, all of one owner
-- and one count. Anything unlike what was seen goes the long way below, entry by entry.
local function together()
  local n, owner, count, gets = (#ARGV - 3) / 4, ARGV[5], ARGV[6], ARGV[7]
  if n < 4 then return nil end
  local first, last = ARGV[4], ARGV[#ARGV - 3]
  local rows = redis.call('XPENDING', KEYS[1], group, first, last, n, owner)
  if #rows ~= n then return nil end
  local ids = {}
  for k = 1, n do
    local i, row = 4 * k, rows[k]
    if row[1] ~= ARGV[i] or ARGV[i + 1] ~= owner or ARGV[i + 2] ~= count or ARGV[i + 3] ~= gets
      or row[4] ~= tonumber(count) or row[3] < least then return nil end
    ids[k] = ARGV[i]
  end
  -- Sizes are not known before the bodies are read: they are read a few at a time.
  local k, mine = 0, {}
  while k < n and bytes <= 1000000 do
    local piece = math.min(16, n - k)
    local found = redis.call('XRANGE', KEYS[1], ids[k + 1], ids[k + piece], 'COUNT', piece)
    if #found ~= piece then return nil end
    for j = 1, piece do
      if found[j][1] ~= ids[k + j] then return nil end
      out[k + j], mine[k + j] = {'taken', found[j][2]}, ids[k + j]
      for _, part in ipairs(found[j][2]) do bytes = bytes + #part end
    end
    k = k + piece
  end
  for j = k + 1, n do out[j] = {'later'} end
  for _, part in ipairs({'IDLE', 0, 'RETRYCOUNT', gets, 'JUSTID'}) do mine[#mine + 1] = part end
  redis.call('XCLAIM', KEYS[1], group, me, 0, unpack(mine))
  return out
end
if together() then return out end
out, bytes = {}, 0

for i = 4, #ARGV, 4 do
  local id, owner, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  if bytes > 1000000 then
    out[#out + 1] = {'later'}
  else
    local row = redis.call('XPENDING', KEYS[1], group, id, id, 1)[1]
    if not row then
      out[#out + 1] = {'gone'}
    elseif row[2] ~= owner or row[4] ~= count or row[3] < least then
      out[#out + 1] = {'moved'}
    else
      local found = redis.call('XRANGE', KEYS[1], id, id)[1]
      if not found then
        out[#out + 1] = {'ghost'}
      else
        redis.call('XCLAIM', KEYS[1], group, me, 0, id, 'IDLE', 0, 'RETRYCOUNT', ARGV[i + 3], 'JUSTID')
        for _, part in ipairs(found[2]) do bytes = bytes + #part end
        out[#out + 1] = {'taken', found[2]}
      end
    end
  end
end
return out
""",
)

RENEW = Script(
    "renew",
    """
-- ARGV: group, consumer, ids. Resets the idle time of what the consumer still owns, without counting a delivery.
-- Returns the ids it does not own any more.
local group, me, mine, lost = ARGV[1], ARGV[2], {}, {}
for i = 3, #ARGV do
  local row = redis.call('XPENDING', KEYS[1], group, ARGV[i], ARGV[i], 1)[1]
  if row and row[2] == me then mine[#mine + 1] = ARGV[i] else lost[#lost + 1] = ARGV[i] end
end
if #mine > 0 then
  mine[#mine + 1] = 'JUSTID'
  redis.call('XCLAIM', KEYS[1], group, me, 0, unpack(mine))
end
return lost
""",
)

RELEASE = Script(
    "release",
    """
-- ARGV: group, consumer, then id, count now, count before, idle (ms) for each entry.
-- Gives back what was fetched and not begun: the count as it was, claimable at once. Returns how many.
local group, me, done = ARGV[1], ARGV[2], 0
for i = 3, #ARGV, 4 do
  local row = redis.call('XPENDING', KEYS[1], group, ARGV[i], ARGV[i], 1)[1]
  if row and row[2] == me and row[4] == tonumber(ARGV[i + 1]) then
    redis.call('XCLAIM', KEYS[1], group, me, 0, ARGV[i], 'IDLE', ARGV[i + 3], 'RETRYCOUNT', ARGV[i + 2], 'JUSTID')
    done = done + 1
  end
end
return done
""",
)

RETIRE = Script(
    "retire",
    """
-- ARGV: group, ids. Acknowledges ghosts: only what the stream, here on the primary, does not hold. Returns which.
local group, out = ARGV[1], {}
for i = 2, #ARGV do
  if #redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i]) == 0 and redis.call('XACK', KEYS[1], group, ARGV[i]) == 1 then
    out[#out + 1] = ARGV[i]
  end
end
return out
""",
)

DEAD = Script(
    "dead-letter",
    """
-- KEYS[2]: the dead-letter stream. ARGV: group, reason, by, the caller's clock (ms), then id, owner, count for each
-- entry ('' and -1: not seen, not checked).
-- XADD first, XACK only when it succeeded. What is not pending is not moved, so sending this again is harmless.
local group, reason, by, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.pcall('TIME')
if not time.err then now = string.format('%d%03d', time[1], math.floor(time[2] / 1000)) end
local out, bytes = {}, 0
for i = 5, #ARGV, 3 do
  local id, owner, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local row = redis.call('XPENDING', KEYS[1], group, id, id, 1)[1]
  if not row then
    out[#out + 1] = {'gone'}
  elseif (owner ~= '' and row[2] ~= owner) or (count >= 0 and row[4] ~= count) then
    out[#out + 1] = {'moved', row[2], row[4]}
  elseif bytes > 1000000 then
    out[#out + 1] = {'later'}
  else
    local found = redis.call('XRANGE', KEYS[1], id, id)[1]
    if not found then
      out[#out + 1] = {'ghost'}
    elseif #found[2] > 7900 then
      out[#out + 1] = {'large', #found[2] / 2}
    else
      local pairs_ = found[2]
      for _, part in ipairs(pairs_) do bytes = bytes + #part end
      local block = {'dl:stream', KEYS[1], 'dl:group', group, 'dl:id', id, 'dl:consumer', row[2],
        'dl:attempts', row[4], 'dl:idle_ms', row[3], 'dl:reason', reason, 'dl:by', by, 'dl:at', now}
      for _, part in ipairs(block) do pairs_[#pairs_ + 1] = part end
      local added = redis.pcall('XADD', KEYS[2], '*', unpack(pairs_))
      if type(added) == 'table' then
        out[#out + 1] = {'refused', added.err}
        return out
      end
      redis.call('XACK', KEYS[1], group, id)
      out[#out + 1] = {'dead', added, row[2], row[4]}
    end
  end
end
return out
""",
)
