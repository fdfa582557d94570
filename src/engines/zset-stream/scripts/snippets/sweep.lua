-- Sweep: consumers that were killed leave their names behind. A new one looks who has been silent for long and holds
-- nothing. Part of claim. ARGV[13]: how long it must have been silent, ms.
local silent_for = tonumber(ARGV[13])
local old_claims, old_consumers = {}, {}
if not last then
  local some = redis.call("HRANDFIELD", claims, 4, "WITHVALUES")
  for i = 1, #some, 2 do
    if tonumber(string.match(some[i + 1], "^%d+ (%d+)")) + silent_for < now then
      old_claims[#old_claims + 1] = some[i]
    end
  end
  for _, reply in ipairs(redis.call("XINFO", "CONSUMERS", stream, group)) do
    local one = described(reply)
    if one.pending == 0 and one.idle > silent_for and one.name ~= consumer and #old_consumers < 100 then
      old_consumers[#old_consumers + 1] = one.name
    end
  end
end
