-- Stops the claims of all groups from taking messages until resume.
-- KEYS: schedule queue
-- ARGV: notAfter
-- Reply: {now}
local schedule, state = KEYS[1], KEYS[2]
--- @include begin
--- @include drain
drain(schedule)
redis.call("HSET", state, "v", layout or 1, "paused", 1)
return { now_text }
