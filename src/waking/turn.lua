-- Says which part a consumer has until its next claim, where a claim is no script of its own.
-- KEYS: schedule claims state waiting
-- ARGV: notAfter consumer channel returns full soonest
-- Reply: {now, nextAt}
--
-- `schedule`: a zset of what waits, by due time in ms. `full`: the consumer has no room for more. `soonest`: when something
-- else is to be done, such as the end of a lease; else empty.
local schedule, claims, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
--- @include begin
--- @include drain
local consumer, channel, returns, full = ARGV[2], ARGV[3], ARGV[4] == "1", ARGV[5] == "1"
local known = redis.call("HEXISTS", claims, consumer) == 1
--- @include wake
local head = redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES")[2]
local plan = math.min(now + poll, math.ceil(tonumber(head or math.huge)), tonumber(ARGV[6]) or math.huge)
--- @include turn
local last_end = "^%d+"
--- @include silent
drain(waiting)
turn_write()
if #silent > 0 then
  redis.call("HDEL", claims, unpack(silent))
end
redis.call("HSET", claims, consumer, now_text)
return { now_text, string.format("%.0f", next_at) }
