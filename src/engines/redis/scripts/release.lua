-- Gives leases that are still held back, no attempt used: due again after a delay, or in the old place without one.
-- KEYS: schedule leases leased state waiting
-- ARGV: notAfter channel [id token delay]
-- Reply: {now, outcomes}
local schedule, leases, leased, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local channel = ARGV[2]
--- @include begin
--- @include values
--- @include format
--- @include drain
--- @include held
--- @include due
--- @include wake

local outcomes, ids, held, at = held_of(3, 3)
local places, earliest = {}, math.huge
for i, id in ipairs(ids) do
  local seq, due = lease_of(held[i])
  local delay = ARGV[at[i] + 2]
  if delay ~= "" then
    due = due_of("d", delay)
  end
  places[2 * i - 1], places[2 * i] = due, seq .. id
  earliest = math.min(earliest, due)
end
if #places > 0 then
  notify(earliest)
end

drain(leases, leased, schedule)
wake_write()
variadic("ZADD", schedule, places)
variadic("HDEL", leased, ids)
variadic("ZREM", leases, ids)
return { now_text, outcomes }
