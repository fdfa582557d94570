-- Give up: counts messages that are given up, since the format has no dead letters. Needs `state` (key). Gives how many of the
-- queue were so far.
local function give_up(count)
  return count > 0 and redis.call("HINCRBY", state, "dropped", count) or 0
end
