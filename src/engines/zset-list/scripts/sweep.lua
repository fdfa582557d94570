-- Puts back what a consumer popped when it blocked, and has not claimed since: it is dead.
-- KEYS: schedule hand hands state waiting
-- ARGV: notAfter channel hand at-once
-- Reply: {now, how many were put back}
--
-- `at-once`: 1 puts back what is there before the consumer is overdue, else 0.
--
-- It does no harm to one that is alive: its claim finds nothing in its hand. One that was stopped between registering and popping
-- may still pop, so a hand is looked at once more after a minute; half a ms in its deadline says that this is the second time.
local schedule, hand, hands, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local channel, name, at_once = ARGV[2], ARGV[3], ARGV[4] == "1"
--- @include begin
--- @include values
--- @include drain
local ready = hand
--- @include line
--- @include wake
drain(schedule, nil, schedule)
drain(hands, nil, hands)
local deadline = tonumber(redis.call("ZSCORE", hands, name) or math.huge)
local entries = (at_once or deadline <= now) and first_in_line(most_at_once) or {}
if #entries > 0 then
  notify(now)
end
wake_write()
put_back(entries)
if #entries > 0 then
  redis.call("LTRIM", hand, 0, -(#entries + 1))
end
if deadline <= now then
  if deadline % 1 > 0 and #entries == 0 then
    redis.call("ZREM", hands, name)
  else
    redis.call("ZADD", hands, "XX", now + 60000.5, name)
  end
end
return { now_text, #entries }
