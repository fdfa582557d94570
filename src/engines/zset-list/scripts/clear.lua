-- Deletes all that waits in the zset and in the list. The memory is given back in the background.
-- KEYS: schedule ready state
-- ARGV: notAfter
-- Reply: {now, how many were deleted}
local schedule, ready, state = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
local count = redis.call("ZCARD", schedule) + redis.call("LLEN", ready)
redis.call("UNLINK", schedule, ready)
return { now_text, count }
