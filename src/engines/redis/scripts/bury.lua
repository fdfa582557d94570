-- Moves messages whose leases are still held to the dead letters; the delivery counts as an attempt.
-- KEYS: leases leased failures dead state
-- ARGV: notAfter [id token reason error]
-- Reply: {now, outcomes}
local leases, leased, failures, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--- @include begin
--- @include format
--- @include held
--- @include bury

local outcomes, ids, held, at = held_of(2, 4)
local old = read_all(failures, ids)
for i, id in ipairs(ids) do
  local _, due = lease_of(held[i])
  local count, error_at, _, _, error_json = failure_of(old[i])
  if ARGV[at[i] + 3] ~= "" then
    error_at, error_json = now, ARGV[at[i] + 3]
  end
  bury(id, due, ARGV[at[i] + 2], count + 1, error_at, error_json)
end

-- The first write frees memory, so that all run at the memory limit, too.
variadic("ZREM", leases, ids)
variadic("HDEL", leased, ids)
bury_all()
return { now_text, outcomes }
