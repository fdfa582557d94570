-- Stops claims from taking messages until resume, and puts what is in the list back into the zset, so that one who blocks on
-- the list gets nothing either.
-- KEYS: schedule ready state
-- ARGV: notAfter
-- Reply: {now, how many are left in the list}
local schedule, ready, state = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include values
--- @include drain
--- @include line
drain(schedule, nil, schedule)
redis.call("HSET", state, "v", layout or 1, "paused", 1)
local entries = first_in_line(most_at_once)
if #entries > 0 then
  put_back(entries)
  redis.call("RPOP", ready, #entries)
end
return { now_text, redis.call("LLEN", ready) }
