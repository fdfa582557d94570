-- Chosen: which dead letters a call is about. Needs `dead`, `copies` (keys), and the snippet copies.

-- The ids in ARGV from index `from` on; when there are none, those that were buried first, by `until_time`, `most` at most. And
-- the copy of each that is a dead letter.
local function chosen_of(from, until_time, most)
  local ids, own = {}, {}
  if #ARGV < from then
    ids = redis.call("ZRANGEBYSCORE", dead, "-inf", until_time, "LIMIT", 0, most)
  else
    ids = { unpack(ARGV, from) }
  end
  local buried = #ids > 0 and redis.call("ZMSCORE", dead, unpack(ids)) or {}
  for i, value in ipairs(read_all(copies, ids)) do
    own[i] = buried[i] and value and copy_of(value)
  end
  return ids, own
end
