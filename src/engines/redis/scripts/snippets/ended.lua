-- Ended: what leases that have ended are in a list. Needs `leased` (key), and the snippets format and failures.

-- Makes entries of leases that have ended, given with their deadlines, as many as fit; those that were the last attempt are
-- `dead`, others are due again, and the kind that is not wanted is passed over. `known`: all are of the kind that is wanted.
local function ended_entries(found, dead_wanted, known)
  local ids, entries = {}, {}
  for i = 1, #found, 2 do
    ids[#ids + 1] = found[i]
  end
  local old = known and {} or read_failures(ids)
  for i, value in ipairs(read_all(leased, ids)) do
    local entry = { score = tonumber(found[2 * i]), id = ids[i], seq = string.rep("\0", 7), lease = true, skip = true }
    if value then
      local seq, due, limit = lease_of(value)
      entry.seq, entry.due = seq, due
      entry.skip = not known and (failure_of(old[i]) + 1 >= limit) ~= dead_wanted
    end
    entries[i] = entry
  end
  return entries
end
