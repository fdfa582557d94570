-- Counts the messages in each state, and says whether the queue is paused.
-- KEYS: schedule leases leased failures dead state
-- ARGV: notAfter
-- Reply: {now, scheduled, due, leased, dead, paused}
local schedule, leases, leased, failures, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include format
--- @include failures

local due = redis.call("ZCOUNT", schedule, "-inf", now)
local scheduled = redis.call("ZCARD", schedule) - due
local buried = redis.call("ZCARD", dead)
local under_lease = redis.call("ZCARD", leases)
local ended = redis.call("ZCOUNT", leases, "-inf", now)
if ended > 0 then
  -- A lease that has ended counts as reclaimed: its message is due, or dead when that was its last attempt. Beyond 1,000
  -- leases, which end together only when consumers died, the last attempts are not looked for; nor beyond 256 KiB of errors.
  local ids = redis.call("ZRANGEBYSCORE", leases, "-inf", now, "LIMIT", 0, 1000)
  local old = read_failures(ids, 262144)
  local held, lost = read_all(leased, ids), 0
  for i, value in ipairs(held) do
    if value then
      local _, _, limit = lease_of(value)
      if failure_of(old[i]) + 1 >= limit then
        lost = lost + 1
      end
    end
  end
  due, buried = due + ended - lost, buried + lost
end
return { now_text, scheduled, due, under_lease - ended, buried, paused and 1 or 0 }
