-- Copies: what a group has of a message, from its first delivery until the group is done with it; and where a message lies in
-- the stream. Big endian. Needs `now` and the snippet values.
--
-- A copy: order(7), seq(7), due f64, attempts so far u32, limit of attempts u32, flags u8 (1: it expires no more), id of the
-- entry f64 f64, token (empty: under no lease). `order` places it among equal due times; it is `seq`, that of the message,
-- until a revival. The member in `leases` and `again` is order and id.
local function copy_value(copy)
  return copy.order .. copy.seq .. pack(">dI4I4Bdd", copy.due, copy.count, copy.limit, copy.lasting and 1 or 0, copy.ms,
    copy.n) .. copy.token
end
local function copy_of(value)
  local due, count, limit, flags, ms, n = unpack_bytes(">dI4I4Bdd", value, 15)
  return { order = sub(value, 1, 7), seq = sub(value, 8, 14), due = due, count = count, limit = limit,
    lasting = flags == 1, ms = ms, n = n, token = sub(value, 48) }
end

-- The id of an entry in the stream, as Redis writes it; and back.
local function entry_id(at)
  return whole(at.ms) .. "-" .. whole(at.n)
end
local function entry_of(text)
  local ms, n = string.match(text, "^(%d+)-(%d+)$")
  return tonumber(ms), tonumber(n)
end
local function is_after(a_ms, a_n, b_ms, b_n)
  return a_ms > b_ms or (a_ms == b_ms and a_n > b_n)
end

-- A value of `moved`: due f64, id of the entry f64 f64.
local function moved_value(due, ms, n)
  return pack(">ddd", due, ms, n)
end
local function moved_of(value)
  local due, ms, n = unpack_bytes(">ddd", value)
  return { due = due, ms = ms, n = n }
end

-- A value of `failures`: when the last error came f64 (0: none), reason of burial u16 + bytes (of a dead letter, else empty),
-- error as JSON, which Lua never decodes.
local function failure_value(at, reason, error_json)
  return pack(">dI2", at, #reason) .. reason .. error_json
end
local function failure_of(value)
  if not value then
    return 0, "", ""
  end
  local at, length = unpack_bytes(">dI2", value)
  return at, sub(value, 11, 10 + length), sub(value, 11 + length)
end

-- Owners in the group's list of pending entries, for copies that no consumer works on.
local waiting_owner, dead_owner = "-waiting", "-dead"

-- The fields of the answer to XINFO, by name.
local function described(reply)
  local fields_of = {}
  for i = 1, #reply, 2 do
    fields_of[reply[i]] = reply[i + 1]
  end
  return fields_of
end
-- The groups of the stream: name → the entry that was delivered last, as {ms, n}.
local function stream_groups()
  local found = {}
  if redis.call("EXISTS", stream) == 1 then
    for _, reply in ipairs(redis.call("XINFO", "GROUPS", stream)) do
      local one = described(reply)
      local ms, n = entry_of(one["last-delivered-id"])
      found[one.name] = { ms = ms, n = n }
    end
  end
  return found
end
-- What the snippet wake needs to know of the group whose `state` this is.
local function waking_of(key)
  return redis.call("HMGET", key, "v", "paused", "biggest", "duty", "dutyAt", "deputy", "deputyAt", "deputySeen")
end
