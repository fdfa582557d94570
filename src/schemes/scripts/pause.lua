-- Stops claims by renaming the zset: they take straight from it, and one that removes what it has read finds nothing there.
-- KEYS: schedule state parked
-- ARGV: notAfter
-- Reply: {now}
--
-- `parked`: where messages wait in a pause; the same as `schedule` in an engine whose claims ask whether there is a pause.
local schedule, state, parked = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include drain
local moves = not paused and schedule ~= parked and redis.call("EXISTS", schedule) == 1
if moves and redis.call("EXISTS", parked) == 1 then
  return redis.error_reply("PARKED " .. parked .. " holds messages although there is no pause: put them into " .. schedule)
end
drain(schedule)
redis.call("HSET", state, "v", layout or 1, "paused", 1)
if moves then
  redis.call("RENAME", schedule, parked)
end
return { now_text }
