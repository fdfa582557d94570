-- Moves the deadline of leases that are still held and not over.
-- KEYS: standing leases state waiting
-- ARGV: notAfter channel lease [id token]
-- Reply: {now, leaseUntil, outcomes}
--
-- `outcomes` has a letter for each: s extended, l lease lost.
local standing, leases, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel = ARGV[2]
--- @include begin
--- @include values
--- @include drain
--- @include records
--- @include wake
local ids, outcomes, ends, until_text = {}, {}, {}, whole(now + tonumber(ARGV[3]))
for i = 4, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
end
drain(leases)
local old = redis.call("ZMSCORE", leases, unpack(ids))
for i, value in ipairs(read_all(standing, ids)) do
  local record = value and record_of(value)
  local held = record and record.kind == "l" and record.text == ARGV[2 * i + 3]
  if held and old[i] and tonumber(old[i]) > now then
    outcomes[i] = "s"
    ends[#ends + 1], ends[#ends + 2] = until_text, ids[i]
  else
    outcomes[i] = "l"
  end
end
if #ends > 0 then
  -- A lease can be made shorter, and end before anybody looks.
  notify(tonumber(until_text))
end
wake_write()
variadic("ZADD", leases, ends)
return { now_text, until_text, table.concat(outcomes) }
