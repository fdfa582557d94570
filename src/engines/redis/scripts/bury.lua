-- Moves messages whose leases are still held to the dead letters; the delivery counts as an attempt.
-- KEYS: messages leases leased failures dead state gone
-- ARGV: notAfter mostDead deadFor [id token reason error]
-- Reply: {now, outcomes, {id, …} dropped, how many were dropped so far}
local messages, leases, leased, failures = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local dead, state, gone = KEYS[5], KEYS[6], KEYS[7]
local most_dead, dead_for = tonumber(ARGV[2]), tonumber(ARGV[3])
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include drain
--- @include held
--- @include bury
--- @include remember
--- @include trim

local outcomes, ids, held, at = held_of(4, 4)
local old = read_failures(ids)
outcomes = sub(outcomes, 1, ((at[#ids + 1] or #ARGV + 1) - 4) / 4)
for i, id in ipairs(ids) do
  local _, due = lease_of(held[i])
  local count, error_at, _, _, error_json = failure_of(old[i])
  if ARGV[at[i] + 3] ~= "" then
    error_at, error_json = now, ARGV[at[i] + 3]
  end
  bury(id, due, ARGV[at[i] + 2], count + 1, error_at, error_json)
end

drain(leases, leased, dead)
bury_all()
variadic("HDEL", leased, ids)
variadic("ZREM", leases, ids)
trim(#ids)
return { now_text, outcomes, dropped, dropped_total }
