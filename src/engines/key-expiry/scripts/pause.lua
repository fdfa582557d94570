-- Stops claims: they ask whether there is a pause.
-- KEYS: ids state
-- ARGV: notAfter
-- Reply: {now}
local ids, state = KEYS[1], KEYS[2]
--- @include begin
-- A command that frees memory comes first, so that the rest runs at the memory limit too.
redis.call("SREM", ids, "")
redis.call("HSET", state, "v", layout or 1, "paused", 1)
return { now_text }
