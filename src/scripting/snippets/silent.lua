-- Silent: consumers that were killed leave their entry in `claims` behind. A new one looks at a few, and gives as `silent` those
-- whose last claim, or the lease that it gave, is over for a minute. Needs `claims` (key), `now`, `known`, and `last_end`: the
-- pattern of that time in an entry.
local silent = {}
if not known then
  local some = redis.call("HRANDFIELD", claims, 4, "WITHVALUES")
  for i = 1, #some, 2 do
    if tonumber(string.match(some[i + 1], last_end)) + 60000 < now then
      silent[#silent + 1] = some[i]
    end
  end
end
