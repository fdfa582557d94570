-- Takes a consumer off the books and passes on what it was to look after.
-- KEYS: claims state waiting
-- ARGV: notAfter consumer channel
-- Reply: {now}
local claims, state, waiting = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include drain
local consumer, channel = ARGV[2], ARGV[3]
--- @include wake
placed[#placed + 1] = consumer
if duty == consumer then
  hand_on(math.max(duty_at, now), consumer)
elseif deputy == consumer then
  deputy, wake_changed = "", true
  set_deputy(math.max(deputy_at, now), consumer)
end
drain(waiting)
wake_write()
redis.call("HDEL", claims, consumer)
return { now_text }
