-- Counts what waits in the zset by due time, and in the list.
-- KEYS: schedule ready state
-- ARGV: notAfter
-- Reply: {now, scheduled, due, paused}
local schedule, ready, state = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
local due = redis.call("ZCOUNT", schedule, "-inf", now)
return { now_text, redis.call("ZCARD", schedule) - due, due + redis.call("LLEN", ready), paused and 1 or 0 }
