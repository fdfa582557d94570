-- Parts: what each group has of a message, and taking it from all of them. Needs `schedule`, `messages`, `moved`, `lost`, `stream`
-- (keys), `now`, and the snippets values, copies, groups and drain.

local groups_of_stream = stream_groups()

-- Where the message in `value` stands: "leased" when a consumer of any group works on it; else "waiting" when any group waits for
-- it; else "dead". Nil when no index has it. The due time, as it is stored and as it counts now; and what each group has of it.
-- A lease that has ended counts as reclaimed.
local function standing_of(id, value)
  local place = redis.call("HGET", moved, id)
  if not place then
    local score = redis.call("ZSCORE", schedule, sub(value, 1, 7) .. id)
    if score then
      return "waiting", tonumber(score), tonumber(score), {}
    end
    place = redis.call("HGET", lost, id)
    if not place then
      return nil, nil, nil, {}
    end
  end
  local at, parts, standing, due, stored = moved_of(place), {}, nil, nil, nil
  for i, one in ipairs(all_groups) do
    local text = redis.call("HGET", one.copies, id)
    local copy = text and copy_of(text)
    local delivered = groups_of_stream[one.name]
    local part
    if copy and copy.seq == sub(value, 1, 7) then
      part = { group = one, copy = copy, standing = "waiting", due = copy.due }
      if copy.token ~= "" then
        part.deadline = tonumber(redis.call("ZSCORE", one.leases, copy.order .. id) or 0)
        if part.deadline > now then
          part.standing = "leased"
        elseif copy.count + 1 >= copy.limit then
          part.standing = "dead"
        else
          part.due = part.deadline
        end
      elseif redis.call("ZSCORE", one.dead, id) then
        part.standing = "dead"
      end
    elseif delivered and is_after(at.ms, at.n, delivered.ms, delivered.n) then
      part = { group = one, standing = "waiting", due = at.due }
    end
    if part then
      parts[#parts + 1] = part
      if part.standing == "leased" or standing == nil or (standing == "dead" and part.standing == "waiting") then
        standing, due, stored = part.standing, part.due, part.copy and part.copy.due or at.due
      end
    end
  end
  return standing, stored, due, parts, at
end

-- Takes messages out of the stream and from all groups; from `schedule`, too. `members`: seq and id, by the place of the id.
local function withdraw(ids, members)
  if #ids == 0 then
    return
  end
  local places, entries = read_all(moved, ids), {}
  for i in ipairs(ids) do
    if places[i] then
      entries[#entries + 1] = entry_id(moved_of(places[i]))
    end
  end
  for _, one in ipairs(all_groups) do
    local own, read = {}, {}
    for i, text in ipairs(read_all(one.copies, ids)) do
      if text then
        local copy = copy_of(text)
        own[#own + 1], read[#read + 1] = copy.order .. ids[i], entry_id(copy)
      end
    end
    if #read > 0 then
      redis.call("XACK", stream, one.name, unpack(read))
    end
    variadic("ZREM", one.leases, own)
    variadic("ZREM", one.again, own)
    variadic("ZREM", one.dead, ids)
    variadic("HDEL", one.copies, ids)
    variadic("HDEL", one.failures, ids)
  end
  if #entries > 0 then
    redis.call("XDEL", stream, unpack(entries))
  end
  variadic("HDEL", moved, ids)
  variadic("HDEL", lost, ids)
  variadic("ZREM", schedule, members)
end
