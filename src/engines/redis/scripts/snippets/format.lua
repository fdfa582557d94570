-- Format: the binary values of docs/reference/redis-keys.md. Big endian throughout. Needs the snippet values.
-- `leased`: seq(7) due f64, limit of attempts u32, token. This is what follows seq.
local function lease_rest(due, limit, token)
  return pack(">dI4c0", due, limit, token)
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
