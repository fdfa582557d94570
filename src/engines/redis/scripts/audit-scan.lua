-- Walks the members of one key: each that is there from the first call to the last comes at least once.
-- KEYS: schedule messages leases leased failures dead state
-- ARGV: notAfter which cursor
-- Reply: {now, cursor for the next call or "0", {member, …}}
--
-- `which`: the place of the key in KEYS. The walk begins with the cursor "0".
local state, which, cursor = KEYS[7], tonumber(ARGV[2]), ARGV[3]
--- @include begin
local in_hash = which == 2 or which == 4 or which == 5
-- What a value takes at most: Redis reads the values of a hash along with its fields. Only bodies and errors are large; the
-- largest body is not known where `state` was lost.
local size = which == 2 and (biggest > 0 and biggest or 65536) or which == 5 and 8192 or 32
local budget, most, steps = 1048576, 250, 0
local members, bytes = {}, 0
repeat
  -- One at a time costs little more than many at once, and passes over what is smaller than the largest.
  local count = math.max(1, math.min(most - #members, math.floor((budget - bytes) / size)))
  -- Named here, so that a refusal on this line tells the commands.
  local page = redis.call(in_hash and "HSCAN" or "ZSCAN", KEYS[which], cursor, "COUNT", count)
  cursor = page[1]
  for i = 1, #page[2], 2 do
    members[#members + 1] = page[2][i]
    bytes = bytes + #page[2][i + 1]
  end
  steps = steps + 1
until cursor == "0" or #members >= most or bytes + size > budget or steps == most
return { now_text, cursor, members }
