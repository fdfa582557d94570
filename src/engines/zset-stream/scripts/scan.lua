-- Walks the members of one key: each that is there from the first call to the last comes at least once.
-- KEYS: walked queue
-- ARGV: notAfter kind cursor
-- Reply: {now, cursor for the next call or "0", {member, …}}
--
-- `kind`: z (a zset), h (a hash), m (the hash of messages, whose values may be large), x (the stream, whose members are the id of
-- an entry, a space, and what it holds). The walk begins with the cursor "0".
local walked, state, kind, cursor = KEYS[1], KEYS[2], ARGV[2], ARGV[3]
--- @include begin
local members, bytes, steps, budget = {}, 0, 0, 1048576
-- What a value takes at most: Redis reads the values of a hash along with its fields.
local size = kind == "m" and math.max(biggest, 64) or kind == "h" and 8192 or 64
if kind == "x" then
  local entries = redis.call("XRANGE", walked, cursor == "0" and "-" or "(" .. cursor, "+", "COUNT", 250)
  for i, entry in ipairs(entries) do
    members[i] = entry[1] .. " " .. entry[2][2]
  end
  return { now_text, #entries == 250 and entries[250][1] or "0", members }
end
repeat
  local count = math.max(1, math.min(250 - #members, math.floor((budget - bytes) / size)))
  local page = redis.call(kind == "z" and "ZSCAN" or "HSCAN", walked, cursor, "COUNT", count)
  cursor = page[1]
  for i = 1, #page[2], 2 do
    members[#members + 1] = page[2][i]
    bytes = bytes + #page[2][i + 1]
  end
  steps = steps + 1
until cursor == "0" or #members >= 250 or bytes + size > budget or steps == 250
return { now_text, cursor, members }
