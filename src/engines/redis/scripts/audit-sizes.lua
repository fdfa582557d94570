-- Says how many entries each key has, all in one moment.
-- KEYS: schedule messages leases leased failures dead state
-- ARGV: notAfter
-- Reply: {now, schedule, messages, leases, leased, failures, dead}
local state = KEYS[7]
--- @include begin
local call = redis.call
return { now_text, call("ZCARD", KEYS[1]), call("HLEN", KEYS[2]), call("ZCARD", KEYS[3]), call("HLEN", KEYS[4]),
  call("HLEN", KEYS[5]), call("ZCARD", KEYS[6]) }
