-- Moves the deadline of leases that are still held and not over.
-- KEYS: queue leases copies state waiting
-- ARGV: notAfter channel lease [id token]
-- Reply: {now, outcomes, leaseUntil}
local state, leases, copies, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
--- @include begin
--- @include values
--- @include copies
--- @include drain
--- @include held

local outcomes, ids, held = held_of(4, 2, nil, leases)
local lease_until, ends = now + tonumber(ARGV[3]), {}
for i, id in ipairs(ids) do
  ends[2 * i - 1], ends[2 * i] = whole(lease_until), held[i].order .. id
end
local state, waiting = KEYS[4], KEYS[5]
local fields = waking_of(state)
--- @include wake
if #ids > 0 then
  -- The new deadline may be nearer than the old one, and nearer than the next look at what has ended.
  notify(lease_until)
end
drain(leases)
wake_write()
variadic("ZADD", leases, ends)
return { now_text, outcomes, whole(lease_until) }
