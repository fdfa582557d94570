-- Makes messages due again whose leases have ended, or buries them, the oldest first.
-- KEYS: schedule messages standing leases dead state
-- ARGV: notAfter
-- Reply: {now, how many leases that have ended are left}
local schedule, messages, standing, leases, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include drain
--- @include records
--- @include reclaim
if redis.call("ZCOUNT", leases, "-inf", now) > 0 then
  drain(leases, standing, schedule)
  drain(dead, messages, dead)
  reclaim_oldest()
end
return { now_text, redis.call("ZCOUNT", leases, "-inf", now) }
