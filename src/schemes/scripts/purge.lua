-- Deletes all that waits in a zset. The memory is given back in the background, so it takes as long for many as for one.
-- KEYS: schedule state parked
-- ARGV: notAfter
-- Reply: {now, how many were deleted}
local schedule, state, parked = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
if paused then
  schedule = parked
end
local count = redis.call("ZCARD", schedule)
redis.call("UNLINK", schedule)
return { now_text, count }
