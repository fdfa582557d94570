-- Deletes messages whose leases are still held. Does as many as their bodies allow, from the first.
-- KEYS: messages leases leased failures state
-- ARGV: notAfter [id token]
-- Reply: {now, outcomes}
local messages, leases, leased, failures, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--- @include begin
--- @include format
--- @include bodies
--- @include held

local outcomes, ids = held_of(2, 2, fitting)
-- All of these free memory, so they run at the memory limit, too.
variadic("ZREM", leases, ids)
variadic("HDEL", leased, ids)
variadic("HDEL", messages, ids)
if #ids > 0 and redis.call("HLEN", failures) > 0 then
  variadic("HDEL", failures, ids)
end
return { now_text, outcomes }
