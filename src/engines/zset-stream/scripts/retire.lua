-- Takes a consumer that leaves off the group, unless it still holds something.
-- KEYS: stream queue
-- ARGV: notAfter group consumer
-- Reply: {now}
local stream, state, group, consumer = KEYS[1], KEYS[2], ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include copies
if stream_groups()[group] then
  for _, reply in ipairs(redis.call("XINFO", "CONSUMERS", stream, group)) do
    local one = described(reply)
    if one.name == consumer and one.pending == 0 then
      redis.call("XGROUP", "DELCONSUMER", stream, group, consumer)
    end
  end
end
return { now_text }
