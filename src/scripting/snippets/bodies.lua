-- Bodies: keeps to the bytes of `messages` that one call may read or delete. Needs `messages`, `biggest` and values.
local budget = 1048576

-- How many of `ids`, from the first and at least one, have bodies that fit into the budget together.
local function fitting(ids)
  if #ids * biggest <= budget then
    return #ids
  end
  local bytes = 0
  for i, id in ipairs(ids) do
    bytes = bytes + redis.call("HSTRLEN", messages, id)
    if i > 1 and bytes > budget then
      return i - 1
    end
  end
  return #ids
end

-- The values of as many of `ids` as fit; `false` where there is no message.
local function read_bodies(ids)
  local count = fitting(ids)
  for i = #ids, count + 1, -1 do
    ids[i] = nil
  end
  return read_all(messages, ids)
end
