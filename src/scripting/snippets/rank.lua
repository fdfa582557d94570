-- Rank: where to go on in a zset among equal scores, in steps of a binary search rather than of a walk.
-- Gives the rank of the first entry with `score` of which `passed(member)` is false, or of the first with a higher score.
local function rank_after(key, score, passed)
  local text = string.format("%.0f", score)
  local first = redis.call("ZCOUNT", key, "-inf", "(" .. text)
  local last = redis.call("ZCOUNT", key, "-inf", text)
  while first < last do
    local middle = math.floor((first + last) / 2)
    if passed(redis.call("ZRANGE", key, middle, middle)[1]) then
      first = middle + 1
    else
      last = middle
    end
  end
  return first
end

-- The entries from rank `first` on, `most` at most, that come before rank `stop`; and whether there are more of them.
local function entries_from(key, first, stop, most)
  if first >= stop then
    return {}, false
  end
  local last = math.min(stop, first + most) - 1
  return redis.call("ZRANGE", key, first, last, "WITHSCORES"), last + 1 < stop
end
