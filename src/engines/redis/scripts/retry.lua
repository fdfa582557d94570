-- Makes messages whose leases are still held due again later, one attempt used; buries those that have none left.
-- KEYS: schedule messages leases leased failures dead state waiting gone
-- ARGV: notAfter channel mostDead deadFor [id token delay error]
-- Reply: {now, outcomes, {id, …} dropped, how many were dropped so far}
local schedule, messages, leases, leased, failures = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local dead, state, waiting, gone = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local channel, most_dead, dead_for = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include drain
--- @include held
--- @include due
--- @include bury
--- @include remember
--- @include trim
--- @include wake
--- @include due-again

local outcomes, ids, held, at = held_of(5, 4)
local old = read_failures(ids)
outcomes = sub(outcomes, 1, ((at[#ids + 1] or #ARGV + 1) - 5) / 4)
for i, id in ipairs(ids) do
  local seq, due, limit = lease_of(held[i])
  local count, error_at, _, _, error_json = failure_of(old[i])
  -- One that fails without an error keeps the error before it.
  if ARGV[at[i] + 3] ~= "" then
    error_at, error_json = now, ARGV[at[i] + 3]
  end
  if count + 1 >= limit then
    bury(id, due, "attempts", count + 1, error_at, error_json)
  else
    due_again(seq .. id, due_of("d", ARGV[at[i] + 2]))
    attempt_used(id, count + 1, error_at, error_json)
  end
end
due_again_all(ids)
return { now_text, outcomes, dropped, dropped_total }
