-- Places: where messages that wait are. Needs `schedule`, `ready` (keys) and the snippet line.
local in_line

-- The entry in the list for a member of the zset; the list is read once.
local function entry_of(member)
  if not in_line then
    in_line = {}
    for _, entry in ipairs(redis.call("LRANGE", ready, 0, -1)) do
      in_line[sub(entry, 9)] = entry
    end
  end
  return in_line[member]
end

-- When a message that waits is due. One that is in neither place is in the hand of a consumer that has not claimed it yet, and
-- so it is due.
local function due_time_of(member)
  local score = redis.call("ZSCORE", schedule, member)
  if score then
    return tonumber(score)
  end
  local entry = entry_of(member)
  return entry and (unpack_bytes(">d", entry)) or now
end

-- Takes messages that wait out of zset and list.
local function displace(members)
  for _, member in ipairs(members) do
    if redis.call("ZREM", schedule, member) == 0 then
      local entry = entry_of(member)
      if entry then
        redis.call("LREM", ready, 1, entry)
      end
    end
  end
end
