-- Brings dead letters back with a new sequence number, deliveries counted anew, and no expiry: the ones named, else the ones
-- buried first. Does as many as their bodies allow, from the first.
-- KEYS: schedule messages standing leases dead state waiting
-- ARGV: notAfter channel kind when buriedBy [id]
-- Reply: {now, outcomes}
--
-- `kind` and `when` as in snippets/due.lua. `buriedBy`: of those not named, only the ones buried by then; empty: by now.
-- `outcomes` has a letter for each: r revived, n no dead letter.
local schedule, messages, standing, leases, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local state, waiting = KEYS[6], KEYS[7]
local channel = ARGV[2]
--- @include begin
--- @include values
--- @include drain
--- @include body
--- @include bodies
--- @include records
--- @include reclaim
--- @include due
--- @include wake

drain(leases, standing, schedule)
drain(dead, messages, dead)
local ids = {}
for i = 6, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
if #ids > 0 then
  reclaim_these(ids)
else
  reclaim_oldest()
  ids = redis.call("ZRANGEBYSCORE", dead, "-inf", ARGV[5] == "" and now or ARGV[5], "LIMIT", 0, 125)
end
local values = read_bodies(ids)
local old = read_all(standing, ids)
local outcomes, revived, due = {}, {}, due_of(ARGV[3], ARGV[4])
for i, value in ipairs(values) do
  local is_dead = value and record_of(old[i]).kind == "d"
  outcomes[i] = is_dead and "r" or "n"
  revived[#revived + 1] = is_dead and i or nil
end
if #revived > 0 then
  notify(due)
  local seq = redis.call("HINCRBY", state, "seq", #revived) - #revived
  if seq + #revived > 9007199254740991 then
    return redis.error_reply("ERR the sequence numbers of this queue are used up")
  end
  local bodies, places, left = {}, {}, {}
  for k, i in ipairs(revived) do
    local number, body = pack(">I7", seq + k), sub(values[i], 8)
    if expiry_of(values[i]) then
      -- It would be buried again at once.
      local flags = byte(body, 1)
      local at = 2 + flags % 2 * 4
      body = string.char(flags - 2) .. sub(body, 2, at - 1) .. sub(body, at + 8)
    end
    left[k], bodies[2 * k - 1], bodies[2 * k] = ids[i], ids[i], number .. body
    places[2 * k - 1], places[2 * k] = whole(due), number .. ids[i]
  end
  wake_write()
  variadic("HSET", messages, bodies)
  variadic("ZADD", schedule, places)
  variadic("HDEL", standing, left)
  variadic("ZREM", dead, left)
end
return { now_text, table.concat(outcomes) }
