-- Ends a pause and wakes a consumer for what came due meanwhile.
-- KEYS: schedule state waiting
-- ARGV: notAfter channel
-- Reply: {now}
local schedule, state, waiting = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include drain
local channel = ARGV[2]
--- @include wake
local head = redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES")[2]
if paused and head then
  notify(tonumber(head))
end
drain(schedule)
wake_write()
redis.call("HDEL", state, "paused")
return { now_text }
