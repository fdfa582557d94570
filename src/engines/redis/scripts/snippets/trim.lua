-- Trim: keeps the dead letters within the bounds that the caller gave, and tells which fell out. Needs `dead`, `messages`,
-- `failures`, `state` (keys), `now`, the locals `most_dead` and `dead_for` (nil: no bound), and the snippets format, bodies
-- and remember.
local dropped, dropped_total = {}, 0

-- How many are over the bounds; -1 when the next burial will not make one fall out.
local function excess()
  local over = most_dead and redis.call("ZCARD", dead) - most_dead or -1
  local old = dead_for and redis.call("ZCOUNT", dead, "-inf", whole(now - dead_for)) or 0
  return old > 0 and math.max(over, old) or over
end

-- What falls out shares the budget with the bodies that the script reads. A body was read by a claim, in its half of a
-- budget, before it was buried; so claims, which trim too, keep up with burials of any size.
if excess() >= 0 then
  budget = budget / 2
end
-- Everything that `trim` needs is tried before the first write, since what comes before it cannot be taken back.
local dropped_before = 0
if most_dead or dead_for then
  dropped_before = tonumber(redis.call("HGET", state, "dropped") or 0)
  redis.call("ZRANGE", dead, 0, 0)
  redis.call("HSTRLEN", messages, "")
  if remember_for > 0 then
    redis.call("ZREMRANGEBYRANK", gone, 1, 0)
    redis.call("ZCOUNT", gone, "-inf", now)
  end
end

-- Call it after `bury_all`, with how many that buried. More go than came, so what is over gets less with each call.
local function trim(added)
  local over = excess()
  if over <= 0 then
    return
  end
  dropped = redis.call("ZRANGE", dead, 0, math.min(over, added + 100, 1000) - 1)
  for i = #dropped, fitting(dropped) + 1, -1 do
    dropped[i] = nil
  end
  remember(dropped)
  -- Not HINCRBY, which would be one more right to be missing by now.
  dropped_total = dropped_before + #dropped
  redis.call("HSET", state, "dropped", whole(dropped_total))
  variadic("ZREM", dead, dropped)
  variadic("HDEL", failures, dropped)
  variadic("HDEL", messages, dropped)
end
