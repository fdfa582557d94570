-- Counts the messages in each state, and says whether the queue is paused.
-- KEYS: schedule ready standing leases dead state
-- ARGV: notAfter
-- Reply: {now, scheduled, due, leased, dead, paused}
local schedule, ready, standing, leases, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include body
--- @include bodies
--- @include records
local due = redis.call("ZCOUNT", schedule, "-inf", now)
local scheduled = redis.call("ZCARD", schedule) - due
-- A lease that has ended counts as reclaimed. Beyond 1,000, which end together only when consumers died, last attempts are not
-- looked for.
local ended, lost = redis.call("ZCOUNT", leases, "-inf", now), 0
for _, value in ipairs(read_all(standing, redis.call("ZRANGEBYSCORE", leases, "-inf", now, "LIMIT", 0, 1000))) do
  local record = record_of(value)
  lost = lost + (record.count + 1 >= record.limit and 1 or 0)
end
return {
  now_text, scheduled, due + redis.call("LLEN", ready) + ended - lost, redis.call("ZCARD", leases) - ended,
  redis.call("ZCARD", dead) + lost, paused and 1 or 0,
}
