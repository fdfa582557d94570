-- Counts the messages in each state, and says whether the queue is paused.
-- KEYS: schedule ready messages standing leases dead state
-- ARGV: notAfter
-- Reply: {now, scheduled, due, leased, dead, paused}
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
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
-- A message that is in no index is in the hand of a consumer, popped and not claimed yet: it is due like those in the list.
local leased, buried = redis.call("ZCARD", leases), redis.call("ZCARD", dead)
local elsewhere = redis.call("HLEN", messages) - redis.call("ZCARD", schedule) - leased - buried
due = due + math.max(redis.call("LLEN", ready), elsewhere) + ended - lost
return { now_text, scheduled, due, leased - ended, buried + lost, paused and 1 or 0 }
