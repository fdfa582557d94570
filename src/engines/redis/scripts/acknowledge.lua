-- Deletes messages whose leases are still held. Does as many as their bodies allow, from the first.
-- KEYS: messages leases leased failures state gone
-- ARGV: notAfter [id token]
-- Reply: {now, outcomes}
local messages, leases, leased = KEYS[1], KEYS[2], KEYS[3]
local failures, state, gone = KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include format
--- @include bodies
--- @include held
--- @include remember

local outcomes, ids = held_of(2, 2, fitting)
-- The first writes free memory, so that all run at the memory limit, too.
variadic("ZREM", leases, ids)
variadic("HDEL", leased, ids)
variadic("HDEL", messages, ids)
if #ids > 0 and redis.call("HLEN", failures) > 0 then
  variadic("HDEL", failures, ids)
end
remember(ids)
return { now_text, outcomes }
