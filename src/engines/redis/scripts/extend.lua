-- Moves the deadline of leases that are still held and not over to now plus `lease`. Whoever held one that is over has given it
-- up, or will when this call is answered: to revive it would only keep the message from others.
-- KEYS: schedule leases leased state waiting
-- ARGV: notAfter channel lease [id token]
-- Reply: {now, leaseUntil, outcomes}
local schedule, leases, leased, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local channel = ARGV[2]
--- @include begin
--- @include values
--- @include drain
--- @include held
--- @include wake

local outcomes, ids = held_of(4, 2, nil, function(ids)
  return #ids > 0 and redis.call("ZMSCORE", leases, unpack(ids)) or {}
end)
local deadlines, lease_until = {}, now + math.ceil(tonumber(ARGV[3]))
for i, id in ipairs(ids) do
  deadlines[2 * i - 1], deadlines[2 * i] = lease_until, id
end
if #ids > 0 then
  -- The new deadline may be nearer than the old one, and nearer than the next look at what has ended.
  notify(lease_until)
end

drain(leases)
wake_write()
variadic("ZADD", leases, deadlines)
return { now_text, whole(lease_until), outcomes }
