-- Standing: in which state a message is. Needs `schedule`, `leases`, `leased`, `failures`, `dead` (keys), `now`, format.
-- A lease that has ended counts as reclaimed: nothing stays leased because no consumer is alive.
--
-- Takes the id and the value in `messages`. Gives "waiting" (scheduled or due), "leased", "dead", or nil when no index has
-- it; the due time; the attempts that counted; and the lease's value and deadline, also when that lease has ended.
local function standing_of(id, value)
  local lease = redis.call("HGET", leased, id)
  local deadline = lease and tonumber(redis.call("ZSCORE", leases, id) or "")
  local count, _, last_due = failure_of(redis.call("HGET", failures, id))
  -- A fence without a deadline is no lease, but what is left of one.
  if deadline then
    local _, due, limit = lease_of(lease)
    if deadline > now then
      return "leased", due, count + 1, lease, deadline
    elseif count + 1 >= limit then
      return "dead", due, count + 1, lease, deadline
    end
    return "waiting", deadline, count + 1, lease, deadline
  end
  local score = redis.call("ZSCORE", schedule, sub(value, 1, 7) .. id)
  if score then
    return "waiting", tonumber(score), count
  elseif redis.call("ZSCORE", dead, id) then
    return "dead", last_due, count
  end
end
