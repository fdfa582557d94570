-- Brings dead letters back with a new sequence number, attempts counted anew, and no expiry: the ones named, else the ones
-- buried first. Does as many as their bodies allow, from the first.
-- KEYS: schedule messages leases leased failures dead state waiting
-- ARGV: notAfter operation step since channel kind when until most [id]
-- Reply: {now, outcomes, overwritten}
--
-- `kind` is d (a delay, ms) or a (a point in time). `until` and `most` say which when no ids are named. `outcomes` has a
-- letter for each: r revived, n no dead letter.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state, waiting = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local channel = ARGV[5]
--- @include begin
--- @include drain
drain(dead, leased, schedule)
--- @include once
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include dead-letters
--- @include due
--- @include wake

-- The value in `messages` without sequence number and expiry: it would be buried again at once.
local function body_without_expiry(value)
  local flags = byte(value, 8)
  if flags % 4 < 2 then
    return sub(value, 8)
  end
  local at = 9 + flags % 2 * 4
  return string.char(flags - 2) .. sub(value, 9, at - 1) .. sub(value, at + 8)
end

local ids = chosen(10, ARGV[8], ARGV[9])
local values, outcomes, revived, left = read_bodies(ids), {}, {}, {}
for i, is_dead in ipairs(dead_of(ids)) do
  if is_dead then
    left[#left + 1] = ids[i]
    revived[#revived + 1] = values[i] and i or nil
  end
  -- One without its message leaves the index, so that the next call finds others.
  outcomes[i] = is_dead and values[i] and "r" or "n"
end
local last = tonumber(redis.call("HGET", state, "seq") or 0)
if last + #revived > 9007199254740991 then
  return redis.error_reply("ERR the sequence numbers of this queue are used up")
end
local due = due_of(ARGV[6], ARGV[7])
if #revived > 0 then
  notify(due)
end

drain(leases, failures)
if #revived > 0 then
  redis.call("HINCRBY", state, "seq", #revived)
end
local reply = answer(table.concat(outcomes), #revived)
wake_write()
local places, bodies, due_text = {}, {}, whole(due)
for k, i in ipairs(revived) do
  local seq = pack(">I7", last + k)
  places[2 * k - 1], places[2 * k] = due_text, seq .. ids[i]
  bodies[2 * k - 1], bodies[2 * k] = ids[i], seq .. body_without_expiry(values[i])
end
variadic("HSET", messages, bodies)
variadic("ZADD", schedule, places)
variadic("ZREM", dead, left)
variadic("ZREM", leases, left)
variadic("HDEL", leased, left)
variadic("HDEL", failures, left)
return reply
