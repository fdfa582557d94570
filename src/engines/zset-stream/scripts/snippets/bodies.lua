-- Bodies: the values of `messages`: seq(7) flags(1) [attempts u32: flag 1] [expiresAt f64: flag 2] [length u32 + headers JSON:
-- flag 4] payload. Keeps to the bytes that one call may read or delete. Needs `messages`, `biggest` and the snippet values.
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

-- Cuts `ids` to as many as fit, and gives their values; `false` where there is no message.
local function read_bodies(ids)
  for i = #ids, fitting(ids) + 1, -1 do
    ids[i] = nil
  end
  return read_all(messages, ids)
end

-- When the message in `value` expires, or nil.
local function expiry_of(value)
  local flags = byte(value, 8)
  if flags % 4 < 2 then
    return nil
  end
  return (unpack_bytes(">d", value, 9 + flags % 2 * 4))
end

-- The limit of attempts that the message in `value` has of its own, or nil.
local function limit_of(value)
  if byte(value, 8) % 2 == 0 then
    return nil
  end
  return (unpack_bytes(">I4", value, 9))
end

-- A client sends all that follows seq, with the time to expiry in the place of `expiresAt`, since only this server knows the
-- due time it counts from. Gives what is to be stored after seq.
local function body_due(body, due)
  local flags = byte(body, 1)
  if flags % 4 < 2 then
    return body
  end
  local at = 2 + flags % 2 * 4
  return sub(body, 1, at - 1) .. pack(">d", due + unpack_bytes(">d", body, at)) .. sub(body, at + 8)
end
