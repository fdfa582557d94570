-- Records: what is kept of a message. Big endian throughout. Needs the keys `messages`, `standing`, `leases`, `dead`, the local `biggest`, and
-- the snippet values.
--
-- `messages`: id → seq(7), flags(1) [attempts u32: flag 1] [expiresAt f64: flag 2] [length u32 + headers JSON: flag 4] payload.
-- `standing`: id → what became of it, where anything did: kind(1: w waits, l leased, d dead), seq(7), deliveries that counted
-- u32, when the last error came f64 (0: none), due time f64 (of a leased one: that of its claim; of a dead one: its last),
-- limit of deliveries u32, length u16 + text (of a leased one: its token; of a dead one: the reason), error as JSON.
local body_budget = 1048576

local function record_of(value, seq)
  if not value then
    return { kind = "w", seq = seq, count = 0, error_at = 0, due = 0, limit = 0, text = "", error = "" }
  end
  local count, error_at, due, limit, length = unpack_bytes(">I4ddI4I2", value, 9)
  return {
    kind = sub(value, 1, 1), seq = sub(value, 2, 8), count = count, error_at = error_at, due = due, limit = limit,
    text = sub(value, 35, 34 + length), error = sub(value, 35 + length),
  }
end
local function value_of(record)
  local text = record.text
  return record.kind .. record.seq .. pack(">I4ddI4I2", record.count, record.error_at, record.due, record.limit, #text)
    .. text .. record.error
end

-- When the message in `value` expires, or nil; and the limit of deliveries that it has of its own, or nil.
local function expiry_of(value)
  local flags = byte(value, 8)
  if flags % 4 >= 2 then
    return (unpack_bytes(">d", value, 9 + flags % 2 * 4))
  end
end
local function limit_of(value)
  if byte(value, 8) % 2 == 1 then
    return (unpack_bytes(">I4", value, 9))
  end
end

-- How many of `ids`, from the first and at least one, have bodies that fit into the budget together.
local function fitting(ids)
  if #ids * biggest <= body_budget then
    return #ids
  end
  local bytes = 0
  for i, id in ipairs(ids) do
    bytes = bytes + redis.call("HSTRLEN", messages, id)
    if i > 1 and bytes > body_budget then
      return i - 1
    end
  end
  return #ids
end

-- The values of as many of `ids` as fit; false where there is none.
local function read_bodies(ids)
  for i = #ids, fitting(ids) + 1, -1 do
    ids[i] = nil
  end
  return read_all(messages, ids)
end

-- Deletes messages, but for their entries in zset and list.
local function forget(ids)
  variadic("HDEL", messages, ids)
  variadic("HDEL", standing, ids)
  variadic("ZREM", leases, ids)
  variadic("ZREM", dead, ids)
end
