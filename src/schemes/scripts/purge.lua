-- Deletes all that waits in a zset. The memory is given back in the background, so it takes as long for many as for one.
-- KEYS: schedule state
-- ARGV: notAfter
-- Reply: {now, how many were deleted}
local schedule, state = KEYS[1], KEYS[2]
--- @include begin
local count = redis.call("ZCARD", schedule)
redis.call("UNLINK", schedule)
return { now_text, count }
