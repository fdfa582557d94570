-- Ended: what leases that have ended are in a list. Needs `leased`, `failures` (keys), and the snippet format.

-- The values of `failures`; empty when nothing failed, as is usual.
local function failures_of(ids)
  if #ids == 0 or redis.call("HLEN", failures) == 0 then
    return {}
  end
  return read_all(failures, ids)
end

-- Makes entries of leases that have ended, given with their deadlines; those that were the last attempt are `dead`, others
-- are due again, and the kind that is not wanted is passed over.
local function ended_entries(found, dead_wanted)
  local ids, entries = {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
  end
  local old = failures_of(ids)
  for i, value in ipairs(read_all(leased, ids)) do
    local entry = { score = tonumber(found[2 * i]), id = ids[i], seq = string.rep("\0", 7), lease = true, skip = true }
    if value then
      local seq, due, limit = lease_of(value)
      entry.seq, entry.due = seq, due
      entry.skip = (failure_of(old[i]) + 1 >= limit) ~= dead_wanted
    end
    entries[i] = entry
  end
  return entries
end
