-- Turn: which part the caller has until its next claim. Needs the snippets begin and wake, and the locals
-- `consumer`; `plan`: when something is to be done next, at the latest now + poll; `returns`: it claims again; `known`: it has
-- claimed before; `full`: it has no room for more.
-- Reads and publishes, and leaves the writes to `turn_write`. Gives `next_at`.
plan = math.max(plan, now)
local next_at, waits = now, false

-- A new consumer may stand in for a process that was killed together with its deputy.
if returns and not known then
  if duty ~= "" and duty ~= consumer and not tell(duty, "?", 0) then
    duty, wake_changed = "", true
  end
  if deputy ~= "" and deputy ~= consumer and not tell(deputy, "?", 0) then
    deputy, wake_changed = "", true
  end
end

if not returns or full then
  -- Full, or it does not come again: others look out for what it leaves.
  placed[#placed + 1] = consumer
  if deputy == consumer then
    deputy, wake_changed = "", true
  end
  if duty == consumer then
    hand_on(plan, consumer)
  else
    notify(plan)
  end
  if not returns then
    next_at = plan
  end
else
  if duty == "" or duty == consumer or duty_at + lag <= now then
    if duty ~= consumer then
      placed[#placed + 1] = consumer
    end
    if deputy == consumer or deputy_at + lag <= now then
      deputy = ""
    end
    duty, duty_at, next_at = consumer, plan, plan
    set_deputy(plan + lag, consumer)
  elseif deputy == "" or deputy == consumer or deputy_at + lag <= now then
    if deputy ~= consumer then
      placed[#placed + 1] = consumer
    end
    deputy, deputy_at, deputy_seen, wake_changed = consumer, plan + lag, now, true
    next_at = deputy_at
    notify(plan)
  else
    next_at, waits = now + poll, true
    notify(plan)
  end
  -- Bytes or its own cap stopped it, not its room: it goes on.
  if plan <= now then
    next_at = now
  end
end

local function turn_write()
  wake_write()
  if waits and consumer ~= duty and consumer ~= deputy then
    redis.call("ZREMRANGEBYSCORE", waiting, "-inf", string.format("(%.0f", now))
    redis.call("ZADD", waiting, now + silence, consumer)
  end
end
