-- Deletes messages that wait, `most` at most: of the lists, of leases that have ended, and of what is pending.
-- KEYS: pending ready unack retry counts garbage messages notes state
-- ARGV: notAfter most
-- Reply: {now, how many were looked at, how many were deleted}
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, state = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local most = tonumber(ARGV[2])
--- @include begin
--- @include values
--- @include places
--- @include forget
--- @include drain
drain(unack, counts)
local ids, exhausted, others, looked = {}, {}, {}, 0
for _, list in ipairs({ ready, retry }) do
  local rest = most - looked
  local listed = rest > 0 and redis.call("LRANGE", list, -rest, -1) or {}
  if #listed > 0 then
    local is_pending, is_leased = redis.call("ZMSCORE", pending, unpack(listed)), redis.call("ZMSCORE", unack, unpack(listed))
    local retries = redis.call("HMGET", counts, unpack(listed))
    for i, id in ipairs(listed) do
      -- An entry that was left behind says nothing of the message that has its id now.
      if not is_pending[i] and not is_leased[i] then
        ids[#ids + 1] = id
        -- One that was cancelled, whose id a queue of another prefix has.
        others[id] = not retries[i] and redis.call("SISMEMBER", garbage, id) == 0
      end
    end
    looked = looked + #listed
    redis.call("LTRIM", list, 0, -(#listed + 1))
  end
end
local rest = most - looked
for _, id in ipairs(redis.call("ZRANGEBYSCORE", unack, "-inf", passed, "LIMIT", 0, rest)) do
  looked = looked + 1
  local left = tonumber(redis.call("HGET", counts, id) or 0) > 0 and ids or exhausted
  left[#left + 1] = id
end
for _, id in ipairs(redis.call("ZRANGEBYSCORE", pending, "-inf", "+inf", "LIMIT", 0, most - looked)) do
  looked = looked + 1
  ids[#ids + 1] = id
end
forget(exhausted)
return { now_text, looked, forget(ids, others) }
