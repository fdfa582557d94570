-- Recover: the reply of this claim was lost. Part of claim.
local last = redis.call("HGET", claims, consumer)
if last then
  local last_order, last_until, last_not_after, last_token = string.match(last, "^(%d+) (%d+) (%d+) (.*)$")
  local ahead = tonumber(last_order) - tonumber(order)
  -- Attempts of one claim share its order; what each of them may run until grows. One that hung on its way would take leases
  -- that nobody hears of.
  if ahead > 0 or (ahead == 0 and tonumber(last_not_after) > tonumber(ARGV[1])) then
    return redis.error_reply("STALE a later claim of this consumer has run")
  end
  -- Its leases are found by their deadline: searching all by token took 91 ms over 100,000 leases. When they have ended the
  -- call claims anew; nobody knows of the old ones, so the token may be used again.
  if last_token == token and tonumber(last_until) > now then
    local same, found = redis.call("ZRANGEBYSCORE", leases, last_until, last_until), {}
    for i, value in ipairs(read_all(leased, same)) do
      if value then
        local seq, due, _, owner = lease_of(value)
        if owner == token then
          found[#found + 1] = { id = same[i], due = due, order = (unpack_bytes(">I7", seq)) }
        end
      end
    end
    -- As it was claimed, not by id. Sequence numbers are compared as numbers: how Lua compares text depends on the locale.
    table.sort(found, function(a, b)
      if a.due ~= b.due then
        return a.due < b.due
      end
      return a.order < b.order
    end)
    local ids = {}
    for i, entry in ipairs(found) do
      ids[i] = entry.id
    end
    -- All of them, whatever they take: a claim took no more than fit.
    local old = read_all(failures, ids)
    for i, value in ipairs(read_all(messages, ids)) do
      if value then
        give(ids[i], found[i].due, value, (failure_of(old[i])))
      end
    end
    -- Whether it is on duty it hears from its next claim.
    return { now_text, last_until, whole(now), taken, {}, {}, {}, 0 }
  end
end
