-- Brings dead letters of the group back with attempts counted anew and no expiry: the ones named, else the ones buried first.
-- KEYS: messages stream queue leases again copies dead failures state waiting
-- ARGV: notAfter group channel kind when until most [id]
-- Reply: {now, outcomes}
--
-- `kind` is d (a delay, ms) or a (a point in time). `until` and `most` say which when no ids are named. `outcomes` has a letter
-- for each: r revived, n no dead letter.
local messages, stream, state, leases, again = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local copies, dead, failures, group, channel = KEYS[6], KEYS[7], KEYS[8], ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include copies
--- @include drain
--- @include due
--- @include chosen

local ids, own = chosen_of(8, ARGV[6], ARGV[7])
local due, outcomes, left, ended, places, values, owned = due_of(ARGV[4], ARGV[5]), {}, {}, {}, {}, {}, {}
local seq = tonumber(redis.call("HGET", state, "seq") or 0)
for i, id in ipairs(ids) do
  outcomes[i] = "n"
  if own[i] then
    left[#left + 1] = id
    ended[#ended + 1] = own[i].ended
    if redis.call("HEXISTS", messages, id) == 1 then
      local copy, n = own[i], #places
      seq = seq + 1
      copy.order, copy.due, copy.count, copy.lasting, copy.token = pack(">I7", seq), due, 0, true, ""
      outcomes[i], places[n + 1], places[n + 2] = "r", whole(due), copy.order .. id
      values[n + 1], values[n + 2], owned[#owned + 1] = id, copy_value(copy), entry_id(copy)
    end
  end
end
local reply, queue = { now_text, table.concat(outcomes) }, state
local state, waiting = KEYS[9], KEYS[10]
local fields = waking_of(state)
--- @include wake
if #places > 0 then
  notify(due)
end
drain(dead, failures, again)
wake_write()
if #places > 0 then
  redis.call("HSET", queue, "seq", whole(seq))
  local command = { "XCLAIM", stream, group, waiting_owner, 0, unpack(owned) }
  for _, word in ipairs({ "RETRYCOUNT", 0, "JUSTID" }) do
    command[#command + 1] = word
  end
  redis.call(unpack(command))
end
variadic("HSET", copies, values)
variadic("ZADD", again, places)
variadic("HDEL", failures, left)
variadic("ZREM", dead, left)
variadic("ZREM", leases, ended)
return reply
