-- Dead letters: which messages a call is about. Needs `leases`, `leased`, `failures`, `dead` (keys), `now`, and the
-- snippets format and failures.

-- The ids in ARGV from index `from` on; when there are none, those that were buried first, by `until_time`, `most` at most.
local function chosen(from, until_time, most)
  if #ARGV < from then
    return redis.call("ZRANGEBYSCORE", dead, "-inf", until_time, "LIMIT", 0, most)
  end
  local ids = {}
  for i = from, #ARGV do
    ids[#ids + 1] = ARGV[i]
  end
  return ids
end

-- Whether it is a dead letter, for as many of the ids as fit. A lease that has ended and was the last attempt counts as reclaimed.
local function dead_of(ids)
  local found, bytes = {}, 0
  if #ids == 0 then
    return found
  end
  local under_lease = read_all(leased, ids)
  for i, buried_at in ipairs(redis.call("ZMSCORE", dead, unpack(ids))) do
    found[i] = buried_at and true
    local deadline = under_lease[i] and redis.call("ZSCORE", leases, ids[i])
    if deadline then
      local _, _, limit = lease_of(under_lease[i])
      local failure = redis.call("HGET", failures, ids[i])
      found[i] = tonumber(deadline) <= now and failure_of(failure) + 1 >= limit
      bytes = bytes + (failure and #failure or 0)
      if bytes > failures_budget then
        break
      end
    end
  end
  return found
end
