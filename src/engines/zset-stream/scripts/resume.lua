-- Ends a pause, and has every group look for what came due meanwhile.
-- KEYS: groups queue
-- ARGV: notAfter groups [name channel]
-- Reply: {now}
--
-- KEYS go on with those of each group: snippets/groups.lua.
local groups, state, own_keys = KEYS[1], KEYS[2], 2
--- @include begin
--- @include groups
--- @include values
--- @include copies
--- @include drain
local wakes = {}
for _, one in ipairs(paused and all_groups or {}) do
  local state, waiting, channel, fields = one.state, one.waiting, one.channel, waking_of(one.state)
--- @include wake
  notify(now)
  wakes[#wakes + 1] = wake_write
end
for _, one in ipairs(all_groups) do
  drain(one.waiting)
end
for _, wake_write in ipairs(wakes) do
  wake_write()
end
redis.call("HDEL", state, "paused")
return { now_text }
