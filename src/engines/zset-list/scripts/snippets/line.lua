-- Line: the list in which due messages stand, the oldest at its right end. Needs `schedule`, `ready` (keys), `now`, and the
-- snippets values. An entry is the due time (f64) and the member of the zset.
--
-- The list is kept short, so that what looks through it or empties it has bounded work. What is due beyond that stays in the
-- zset, where its due time says that it is due.
local longest, most_at_once, budget = 500, 250, 1048576

-- Reads values until there are `most`, or about 1 MiB of them: how large one is shows only when it is read. `read` gives as
-- many as it is asked for, behind the ones that were read before.
local function read_fitting(most, read)
  local found, bytes, step = {}, 0, 1
  while #found < most do
    local wanted = math.min(step, most - #found)
    local some = read(#found, wanted)
    for _, value in ipairs(some) do
      bytes = bytes + #value
      if #found > 0 and bytes > budget then
        return found
      end
      found[#found + 1] = value
    end
    local fits = #found > 0 and math.floor((budget - bytes) * #found / bytes) or 0
    if #some < wanted or fits < 1 then
      break
    end
    step = math.min(4 * step, fits)
  end
  return found
end

-- The oldest entries in the list.
local function first_in_line(most)
  return read_fitting(most, function(from, count)
    local some, oldest_first = redis.call("LRANGE", ready, -(from + count), -(from + 1)), {}
    for i = #some, 1, -1 do
      oldest_first[#oldest_first + 1] = some[i]
    end
    return oldest_first
  end)
end

-- Puts entries into the zset again, with the due times that they had.
local function put_back(entries)
  local places = {}
  for i, entry in ipairs(entries) do
    places[2 * i - 1], places[2 * i] = whole((unpack_bytes(">d", entry))), sub(entry, 9)
  end
  variadic("ZADD", schedule, places)
end

-- Whether an entry stands in front of another one: it was due earlier or, at the same time, its member has the lesser bytes, as
-- a zset orders them. They differ in the sequence number or, at the latest, in the id; what comes behind is not looked at.
local function is_before(one, other)
  local due, other_due = unpack_bytes(">d", one), unpack_bytes(">d", other)
  if due ~= other_due then
    return due < other_due
  end
  for at = 9, 278 do
    local value, other_value = byte(one, at) or -1, byte(other, at) or -1
    if value ~= other_value then
      return value < other_value
    end
  end
  return false
end

-- What is released, or whose lease has ended, comes back with an old due time when younger ones stand in the list already: puts
-- those back that stand behind the first of the zset, so that what is moved next is in order. With 250 in the list such a claim
-- took 0.9 ms (median), and others 0.1.
local function make_way()
  local head, newest = redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES"), redis.call("LINDEX", ready, 0)
  local first = head[2] and pack(">d", tonumber(head[2])) .. head[1]
  if not first or not newest or not is_before(first, newest) then
    return
  end
  local behind = read_fitting(longest, function(from, count)
    local some = redis.call("LRANGE", ready, from, from + count - 1)
    for i = #some, 1, -1 do
      if is_before(first, some[i]) then
        break
      end
      some[i] = nil
    end
    return some
  end)
  put_back(behind)
  redis.call("LTRIM", ready, #behind, -1)
end

-- Moves what is due from the zset to the list, as far as there is room in it. Complete in itself, so that an error after it
-- leaves nothing half done.
local function move_due()
  make_way()
  local most = math.min(most_at_once, longest - redis.call("LLEN", ready))
  local entries = read_fitting(most, function(from, count)
    local some, read = redis.call("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", from, count), {}
    for i = 1, #some, 2 do
      read[#read + 1] = pack(">d", tonumber(some[i + 1])) .. some[i]
    end
    return read
  end)
  local members = {}
  for i, entry in ipairs(entries) do
    members[i] = sub(entry, 9)
  end
  -- First into the list: one that is in two places is found, in none it is lost.
  variadic("LPUSH", ready, entries)
  variadic("ZREM", schedule, members)
end
