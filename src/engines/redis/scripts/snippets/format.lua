-- Format: the binary values of docs/reference/redis-keys.md. Big endian throughout. Needs the snippet values.
-- `leased`: seq(7) due f64, limit of attempts u32, token.
local function lease_value(seq, due, limit, token)
  return seq .. pack(">dI4", due, limit) .. token
end
local function lease_of(value)
  local due, limit = unpack_bytes(">dI4", value, 8)
  return sub(value, 1, 7), due, limit, sub(value, 20)
end

-- `failures`: attempts so far u32, when the last error came f64 (0: none), last due time f64 (of a dead letter, else 0),
-- reason of burial u16 + bytes (of a dead letter, else empty), error as JSON, which Lua never decodes.
local function failure_value(count, at, due, reason, error_json)
  return pack(">I4ddI2", count, at, due, #reason) .. reason .. error_json
end
local function failure_of(value)
  if not value then
    return 0, 0, 0, "", ""
  end
  local count, at, due, length = unpack_bytes(">I4ddI2", value)
  return count, at, due, sub(value, 23, 22 + length), sub(value, 23 + length)
end

-- `messages`: seq(7) flags(1) [attempts u32: flag 1] [expiresAt f64: flag 2] [length u32 + headers JSON: flag 4] payload.
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
-- A client sends all that follows seq, with the time to expiry in the place of `expiresAt`, since only this server knows
-- the due time it counts from. Gives what is to be stored after seq.
local function body_due(body, due)
  local flags = byte(body, 1)
  if flags % 4 < 2 then
    return body
  end
  local at = 2 + flags % 2 * 4
  return sub(body, 1, at - 1) .. pack(">d", due + unpack_bytes(">d", body, at)) .. sub(body, at + 8)
end
