-- Moves what is due from the zset to the list, takes from the list, and says when to come back.
-- KEYS: schedule ready claims state waiting
-- ARGV: notAfter consumer channel limit room returns
-- Reply: {now, nextAt, headAt, {entry, …}, whether there is a pause}
--
-- `room`: the caller has room for more than `limit`. `headAt`: when the next message comes due that is not in the list; else
-- empty. What an entry is, snippets/line.lua says.
local schedule, ready, claims, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--- @include begin
--- @include values
--- @include drain
--- @include line
local consumer, channel, limit = ARGV[2], ARGV[3], tonumber(ARGV[4])
local room, returns = ARGV[5] == "1", ARGV[6] == "1"
--- @include wake
drain(schedule)
local taken = {}
if limit > 0 and not paused then
  move_due()
  taken = first_in_line(limit)
end
local left = redis.call("LLEN", ready) - #taken
local head = not paused and redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES")[2]
local plan = now + poll
if not paused then
  plan = left > 0 and now or math.min(plan, tonumber(head or plan))
end
local known = redis.call("HEXISTS", claims, consumer) == 1
local full = limit == 0 or (#taken == limit and not room)
--- @include turn
local last_end = "^%d+"
--- @include silent
turn_write()
variadic("HDEL", claims, silent)
redis.call("HSET", claims, consumer, whole(now))
if #taken > 0 then
  redis.call("RPOP", ready, #taken)
end
return { now_text, whole(next_at), head and whole(head) or "", taken, paused and 1 or 0 }
