-- Puts back what a consumer popped when it blocked, and has not claimed since.
-- KEYS: schedule hand hands state waiting
-- ARGV: notAfter channel hand which
-- Reply: {now, how many were put back}
--
-- `which`: overdue, only when the consumer is, so that it is dead; at-once; or left, at once when it has left.
--
-- It does no harm to one that is alive: its claim finds nothing in its hand. One that was stopped between registering and popping
-- may still pop, so the hand of one that is overdue is looked at once more after a minute; half a ms in its deadline says that
-- this is the second time.
local schedule, hand, hands, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local channel, name, which = ARGV[2], ARGV[3], ARGV[4]
--- @include begin
--- @include values
--- @include drain
local ready = hand
--- @include line
--- @include wake
drain(schedule, nil, schedule)
drain(hands, nil, hands)
local deadline = tonumber(redis.call("ZSCORE", hands, name) or math.huge)
local entries = (which ~= "overdue" or deadline <= now) and first_in_line(most_at_once) or {}
if #entries > 0 then
  notify(now)
end
wake_write()
put_back(entries)
if #entries > 0 then
  redis.call("LTRIM", hand, 0, -(#entries + 1))
end
if which == "left" then
  redis.call("ZREM", hands, name)
elseif deadline <= now then
  if deadline % 1 > 0 and #entries == 0 then
    redis.call("ZREM", hands, name)
  else
    redis.call("ZADD", hands, "XX", now + 60000.5, name)
  end
end
return { now_text, #entries }
