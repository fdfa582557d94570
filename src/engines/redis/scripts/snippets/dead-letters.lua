-- Dead letters: which messages a call is about. Needs `leases`, `leased`, `failures`, `dead` (keys), `now`, and format.

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

-- For each id whether it is a dead letter. A lease that has ended and was the last attempt counts as reclaimed.
local function dead_of(ids)
  local found = {}
  if #ids == 0 then
    return found
  end
  local under_lease = read_all(leased, ids)
  for i, buried_at in ipairs(redis.call("ZMSCORE", dead, unpack(ids))) do
    found[i] = buried_at and true
    local deadline = under_lease[i] and redis.call("ZSCORE", leases, ids[i])
    if deadline then
      local _, _, limit = lease_of(under_lease[i])
      found[i] = tonumber(deadline) <= now and failure_of(redis.call("HGET", failures, ids[i])) + 1 >= limit
    end
  end
  return found
end
