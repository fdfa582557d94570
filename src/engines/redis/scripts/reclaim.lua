-- Reclaims leases that have ended, oldest first, as a claim does, and says what there is.
-- KEYS: schedule messages leases leased failures dead state
-- ARGV: notAfter
-- Reply: {now, end of the earliest lease that is left, sequence, waiting, dead}
--
-- `sequence` is the last number that was given; `waiting` and `dead` are how many there are in these states, at most.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
--- @include format
--- @include failures
--- @include drain
--- @include bury
local buried_reply, missing = {}, {}
local function bury_and_tell(...)
  bury(...)
end
local seq = redis.call("HGET", state, "seq") or "0"
drain(leases, leased, schedule)
--- @include reclaim

local left = redis.call("ZCOUNT", leases, "-inf", now)
local earliest = redis.call("ZRANGE", leases, 0, 0, "WITHSCORES")[2] or "9007199254740991"
return { now_text, earliest, seq, redis.call("ZCARD", schedule) + left,
  redis.call("ZCARD", dead) + left }
