-- Reclaims leases that have ended, oldest first, as a claim does, and says what there is.
-- KEYS: schedule leases leased failures dead state
-- ARGV: notAfter
-- Reply: {now, end of the earliest lease that is left, sequence, waiting, dead}
--
-- `sequence` is the last number that was given; `waiting` and `dead` are how many there are in these states, at most.
local schedule, leases, leased, failures, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include format
--- @include bury
local buried_reply, missing = {}, {}
local function failures_of(ids)
  return redis.call("HLEN", failures) > 0 and read_all(failures, ids) or {}
end
local function bury_and_tell(...)
  bury(...)
end
--- @include drain
--- @include reclaim

local left = redis.call("ZCOUNT", leases, "-inf", now)
local earliest = redis.call("ZRANGE", leases, 0, 0, "WITHSCORES")[2] or "9007199254740991"
return { now_text, earliest, redis.call("HGET", state, "seq") or "0", redis.call("ZCARD", schedule) + left,
  redis.call("ZCARD", dead) + left }
