-- Deletes messages that wait and were scheduled by a sequence number, or dead letters that were buried by a time, as many as one
-- call may.
-- KEYS: schedule ready messages standing leases dead state gone
-- ARGV: notAfter what by from
-- Reply: {now, how many were deleted, by, from or ""}
--
-- `what`: waiting or dead. `by` is empty in the first call, and then what its reply said. `from`: the rank at which it goes on in
-- the zset, where younger messages stay; in the reply it is empty when the end was reached.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include bodies
--- @include records
--- @include reclaim
--- @include remember
local what, by, from = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
drain(leases, standing, schedule)
drain(dead, messages, dead)
reclaim_oldest()
local ids, members, kept = {}, {}, 0
if what == "dead" then
  by = by or now
  ids = redis.call("ZRANGEBYSCORE", dead, "-inf", whole(by), "LIMIT", 0, most_at_once)
else
  by = by or tonumber(redis.call("HGET", state, "seq") or 0)
  -- What stands in the list is walked in the zset, too; the next claim moves it again.
  local entries = first_in_line(longest)
  put_back(entries)
  if #entries > 0 then
    redis.call("RPOP", ready, #entries)
  end
  for _, member in ipairs(redis.call("ZRANGE", schedule, from, from + most_at_once - 1)) do
    if unpack_bytes(">I7", member) <= by then
      ids[#ids + 1], members[#members + 1] = sub(member, 8), member
    else
      kept = kept + 1
    end
  end
end
local asked = #ids
read_bodies(ids)
for i = #members, #ids + 1, -1 do
  members[i] = nil
end
local ended = #ids == asked and asked + kept < most_at_once
remember(ids)
variadic("ZREM", schedule, members)
forget(ids)
-- Where bodies ended it, the ones that stay are looked at again.
return { now_text, #ids, whole(by), ended and "" or whole(#ids == asked and from + kept or from) }
