-- Counts what waits in a zset by due time.
-- KEYS: schedule state parked
-- ARGV: notAfter
-- Reply: {now, scheduled, due, whether there is a pause}
local schedule, state, parked = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
if paused then
  schedule = parked
end
local due = redis.call("ZCOUNT", schedule, "-inf", now)
return { now_text, redis.call("ZCARD", schedule) - due, due, paused and 1 or 0 }
