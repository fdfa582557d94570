-- Counts what waits in a zset by due time.
-- KEYS: schedule state
-- ARGV: notAfter
-- Reply: {now, scheduled, due}
local schedule, state = KEYS[1], KEYS[2]
--- @include begin
local due = redis.call("ZCOUNT", schedule, "-inf", now)
return { now_text, redis.call("ZCARD", schedule) - due, due }
