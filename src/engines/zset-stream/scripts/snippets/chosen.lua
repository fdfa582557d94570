-- Chosen: which dead letters a call is about. Needs `leases`, `copies`, `dead` (keys), `now`, and the snippet copies.

-- The ids in ARGV from index `from` on; when there are none, those that were buried first, by `until_time`, `most` at most. And
-- the copy of each that is a dead letter. A lease that has ended and was the last attempt counts as reclaimed; `ended` of the copy
-- is its member in `leases`.
local function chosen_of(from, until_time, most)
  local ids, own = {}, {}
  if #ARGV < from then
    ids = redis.call("ZRANGEBYSCORE", dead, "-inf", until_time, "LIMIT", 0, most)
  else
    ids = { unpack(ARGV, from) }
  end
  local buried = #ids > 0 and redis.call("ZMSCORE", dead, unpack(ids)) or {}
  for i, value in ipairs(read_all(copies, ids)) do
    local copy = value and copy_of(value)
    if copy and copy.token ~= "" and copy.count + 1 >= copy.limit then
      local deadline = redis.call("ZSCORE", leases, copy.order .. ids[i])
      if deadline and tonumber(deadline) <= now then
        buried[i], copy.ended = deadline, copy.order .. ids[i]
      end
    end
    own[i] = buried[i] and copy
  end
  return ids, own
end
