-- Ends a pause, and tells it: an empty list of what is due.
-- KEYS: state
-- ARGV: notAfter told
-- Reply: {now}
local state = KEYS[1]
--- @include begin
if paused then
  redis.call("PUBLISH", ARGV[2], "")
end
redis.call("HDEL", state, "paused")
return { now_text }
