-- Values: binary values, large numbers, and calls with any number of arguments.
local pack, unpack_bytes, sub, byte = struct.pack, struct.unpack, string.sub, string.byte

-- Lua prints large numbers with 14 digits; this keeps all of a whole one.
local function whole(number)
  return string.format("%.0f", number)
end

-- Calls a command with any number of values: unpack() stops at 7,999. The chunk is even, so that pairs stay together.
local function variadic(command, key, values)
  for first = 1, #values, 7000 do
    redis.call(command, key, unpack(values, first, math.min(first + 6999, #values)))
  end
end

-- Reads fields of a hash in any number. `false` where there is none.
local function read_all(key, ids)
  if #ids <= 7000 then
    return #ids > 0 and redis.call("HMGET", key, unpack(ids)) or {}
  end
  local values = {}
  for first = 1, #ids, 7000 do
    for _, value in ipairs(redis.call("HMGET", key, unpack(ids, first, math.min(first + 6999, #ids)))) do
      values[#values + 1] = value
    end
  end
  return values
end
