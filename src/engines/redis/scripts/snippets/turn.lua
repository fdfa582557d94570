-- Turn: which part the caller has until its next claim. Part of claim; reads and publishes, and leaves the writes to
-- claim.
local plan = now + poll
-- What was found has the lowest ranks, so this is the first that stays.
local head = not paused and redis.call("ZRANGE", schedule, #ids, #ids, "WITHSCORES")[2]
local first_end = redis.call("ZRANGE", leases, 0, 0, "WITHSCORES")[2]
plan = math.min(plan, tonumber(head or plan), tonumber(first_end or plan), #taken > 0 and lease_until or plan)
plan = math.max(plan, now)
local next_at, waits = now, false

-- A new consumer may stand in for a process that was killed together with its deputy.
if returns and not last then
  if duty ~= "" and duty ~= consumer and not tell(duty, "?", 0) then
    duty, wake_changed = "", true
  end
  if deputy ~= "" and deputy ~= consumer and not tell(deputy, "?", 0) then
    deputy, wake_changed = "", true
  end
end

if not returns or limit == 0 or (#taken == limit * 4 and not room) then
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
