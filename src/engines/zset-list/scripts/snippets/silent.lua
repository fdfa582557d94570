-- Silent: consumers that were killed leave their entry in `claims` behind. A new one looks at a few, and drops those whose last
-- claim, or the lease that it gave, is over for a minute. Needs `claims`, `now`, `known`, and the snippet values.
if not known then
  local some, silent = redis.call("HRANDFIELD", claims, 4, "WITHVALUES"), {}
  for i = 1, #some, 2 do
    if tonumber(string.match(some[i + 1], "^%d+")) + 60000 < now then
      silent[#silent + 1] = some[i]
    end
  end
  variadic("HDEL", claims, silent)
end
