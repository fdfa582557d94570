-- Ends a pause and wakes a consumer for what came due meanwhile.
-- KEYS: pending state waiting
-- ARGV: notAfter channel
-- Reply: {now}
local pending, state, waiting = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include drain
local channel = ARGV[2]
--- @include wake
if paused then
  notify(now)
end
drain(pending)
wake_write()
redis.call("HDEL", state, "paused")
return { now_text }
