-- Standing: in which state a message is. Needs `schedule`, `leases`, `leased`, `failures`, `dead` (keys), `now`, and the
-- snippets format and failures. A lease that has ended counts as reclaimed: nothing stays leased because no consumer is
-- alive.
local failures_read = 0

-- Whether what was read of `failures` is enough for one call.
local function has_read_enough()
  return failures_read > failures_budget
end

-- Takes the id and the value in `messages`. Gives "waiting" (scheduled or due), "leased", "dead", or nil when no index has
-- it; the due time; the attempts that counted; the lease's value and deadline, also when that lease has ended; and the value
-- in `failures`, if any.
local function standing_of(id, value)
  local lease = redis.call("HGET", leased, id)
  local deadline = lease and tonumber(redis.call("ZSCORE", leases, id) or "")
  local failure = redis.call("HGET", failures, id)
  failures_read = failures_read + (failure and #failure or 0)
  local count, _, last_due = failure_of(failure)
  -- A fence without a deadline is no lease, but what is left of one.
  if deadline then
    local _, due, limit = lease_of(lease)
    if deadline > now then
      return "leased", due, count + 1, lease, deadline, failure
    elseif count + 1 >= limit then
      return "dead", due, count + 1, lease, deadline, failure
    end
    return "waiting", deadline, count + 1, lease, deadline, failure
  end
  local score = redis.call("ZSCORE", schedule, sub(value, 1, 7) .. id)
  if score then
    return "waiting", tonumber(score), count, nil, nil, failure
  elseif redis.call("ZSCORE", dead, id) then
    return "dead", last_due, count, nil, nil, failure
  end
end
