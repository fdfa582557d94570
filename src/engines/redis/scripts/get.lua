-- Reads messages without touching them. Gives as many as fit into the budget of bytes, from the first.
-- KEYS: schedule messages leases leased failures dead state
-- ARGV: notAfter [id]
-- Reply: {now, [message or nil]}
--
-- A message is {state, value, dueAt, attempts that counted, leaseUntil, value in failures or "", buriedAt}; a lease that has
-- ended counts as reclaimed at its end.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include standing

local asked = {}
for i = 2, #ARGV do
  asked[#asked + 1] = ARGV[i]
end
local reply = { now_text }
for i, value in ipairs(read_bodies(asked)) do
  local id, message = asked[i], false
  local standing, due, count, lease, deadline, failure
  if value then
    standing, due, count, lease, deadline, failure = standing_of(id, value)
  end
  if standing then
    local buried_at = standing == "dead" and (lease and whole(deadline) or redis.call("ZSCORE", dead, id)) or "0"
    message = { standing, value, whole(due), count, whole(deadline or 0), failure or "", buried_at }
  end
  reply[i + 1] = message
  if has_read_enough() then
    break
  end
end
return reply
