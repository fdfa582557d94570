-- Records: what is kept of a message. Big endian throughout. Needs the keys `messages`, `standing`, `leases`, `dead`, and the
-- snippet values.
--
-- `messages`: id → as in the snippet body.
-- `standing`: id → what became of it, where anything did: kind(1: w waits, l leased, d dead), seq(7), deliveries that counted
-- u32, when the last error came f64 (0: none), due time f64 (of a leased one: that of its claim; of a dead one: its last),
-- limit of deliveries u32, length u16 + text (of a leased one: its token; of a dead one: the reason), error as JSON.
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

-- Deletes messages, but for their entries in zset and list.
local function forget(ids)
  variadic("HDEL", messages, ids)
  variadic("HDEL", standing, ids)
  variadic("ZREM", leases, ids)
  variadic("ZREM", dead, ids)
end
