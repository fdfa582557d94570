-- Stops claims of this library from taking messages until resume.
-- KEYS: pending state
-- ARGV: notAfter
-- Reply: {now}
local pending, state = KEYS[1], KEYS[2]
--- @include begin
--- @include drain
drain(pending)
redis.call("HSET", state, "v", layout or 1, "paused", 1)
return { now_text }
