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
  -- Its leases are found by their deadline. When they have ended the call claims anew; nobody knows of the old ones, so the
  -- token may be used again.
  if last_token == token and tonumber(last_until) > now then
    local ids, found = {}, {}
    for i, member in ipairs(redis.call("ZRANGEBYSCORE", leases, last_until, last_until)) do
      ids[i] = sub(member, 8)
    end
    for i, value in ipairs(read_all(copies, ids)) do
      local copy = value and copy_of(value)
      if copy and copy.token == token then
        copy.id, copy.place = ids[i], (unpack_bytes(">I7", copy.order))
        found[#found + 1] = copy
      end
    end
    -- As it was claimed. Places are compared as numbers: how Lua compares text depends on the locale.
    table.sort(found, function(a, b)
      if a.due ~= b.due then
        return a.due < b.due
      end
      return a.place < b.place
    end)
    for _, copy in ipairs(found) do
      local value = redis.call("HGET", messages, copy.id)
      if value then
        give(copy.id, copy.due, value, copy.count)
      end
    end
    return { now_text, last_until, whole(now), taken, {}, {} }
  end
end
