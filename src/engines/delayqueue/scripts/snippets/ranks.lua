-- Ranks: a page of a zset behind a place, which is a score and an id, whether anything is there or not, or from the first entry on.
-- Needs the snippets values, id-order and places.

local function precedes(a, b)
  if a.score ~= b.score then
    return a.score < b.score
  end
  return id_precedes(a.id, b.id)
end

-- Among equal scores by halves: there can be as many as a program of the Go library scheduled for one second.
local function rank_behind(key, place)
  local text = text_of(place.score)
  local low, high = redis.call("ZCOUNT", key, "-inf", "(" .. text), redis.call("ZCOUNT", key, "-inf", text)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local id = redis.call("ZRANGE", key, middle, middle)[1]
    if id_precedes(place.id, id) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- Entries behind `place` with scores from `first` to before `last`, `most` at most, and whether there are more of them.
local function entries_of(key, first, last, place, most)
  local start = redis.call("ZCOUNT", key, "-inf", "(" .. text_of(first))
  local stop = last == math.huge and redis.call("ZCARD", key) or redis.call("ZCOUNT", key, "-inf", "(" .. text_of(last))
  if place then
    start = math.max(start, rank_behind(key, place))
  end
  local entries = {}
  if start < stop then
    local found = redis.call("ZRANGE", key, start, math.min(stop, start + most) - 1, "WITHSCORES")
    for i = 1, #found, 2 do
      entries[#entries + 1] = { id = found[i], score = tonumber(found[i + 1]) }
    end
  end
  return entries, start + most < stop
end

-- The same of two zsets. Nothing is known of what comes behind the last entry of one that has more.
local function merged(one, more_of_one, other, more_of_other, most)
  local entries, i, j = {}, 1, 1
  while #entries < most do
    local a, b = one[i], other[j]
    if not (a or b) or (not a and more_of_one) or (not b and more_of_other) then
      break
    end
    if a and not (b and precedes(b, a)) then
      entries[#entries + 1], i = a, i + 1
    else
      entries[#entries + 1], j = b, j + 1
    end
  end
  return entries, more_of_one or more_of_other or one[i] ~= nil or other[j] ~= nil
end
