-- Sets another due time for messages that wait. Does as many as their bodies allow, from the first.
-- KEYS: schedule messages leases leased failures dead state waiting gone
-- ARGV: notAfter channel mostDead deadFor [id kind when]
-- Reply: {now, outcomes, {id, …} dropped, how many were dropped so far}
--
-- `kind` is d (a delay, ms) or a (a point in time). `outcomes` has a letter for each: r rescheduled, l leased, d dead,
-- a absent. A lease that has ended is reclaimed on the way.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state, waiting, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local channel, most_dead, dead_for = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include drain
--- @include failures
--- @include standing
--- @include due
--- @include bury
--- @include remember
--- @include trim
--- @include wake
--- @include due-again

local asked = {}
for i = 5, #ARGV, 3 do
  asked[#asked + 1] = ARGV[i]
end
local outcomes, reclaimed = {}, {}
for i, value in ipairs(read_bodies(asked)) do
  local id = asked[i]
  local standing, last_due, count, lease, deadline, failure
  if value then
    standing, last_due, count, lease, deadline, failure = standing_of(id, value)
  end
  if standing == "waiting" then
    outcomes[i] = "r"
    due_again(sub(value, 1, 7) .. id, due_of(ARGV[3 * i + 3], ARGV[3 * i + 4]))
  else
    outcomes[i] = standing == "leased" and "l" or standing == "dead" and "d" or "a"
  end
  if lease and standing ~= "leased" then
    reclaimed[#reclaimed + 1] = id
    local _, error_at, _, _, error_json = failure_of(failure)
    if standing == "dead" then
      bury(id, last_due, "attempts", count, error_at, error_json, deadline)
    else
      attempt_used(id, count, error_at, error_json)
    end
  end
  if has_read_enough() then
    break
  end
end
due_again_all(reclaimed)
return { now_text, table.concat(outcomes), dropped, dropped_total }
