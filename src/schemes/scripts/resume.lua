-- Ends a pause: names the zset as it was, and wakes a consumer for what came due meanwhile.
-- KEYS: schedule state waiting parked
-- ARGV: notAfter channel
-- Reply: {now}
local schedule, state, waiting, parked = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel = ARGV[2]
--- @include begin
--- @include drain
--- @include wake
local moves = paused and schedule ~= parked and redis.call("EXISTS", parked) == 1
if moves and redis.call("EXISTS", schedule) == 1 then
  return redis.error_reply("PARKED " .. schedule .. " holds messages although there is a pause: put them into " .. parked)
end
local head = redis.call("ZRANGE", parked, 0, 0, "WITHSCORES")[2]
if paused and head then
  notify(tonumber(head))
end
drain(parked)
wake_write()
redis.call("HDEL", state, "paused")
if moves then
  redis.call("RENAME", parked, schedule)
end
return { now_text }
