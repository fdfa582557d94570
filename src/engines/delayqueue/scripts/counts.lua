-- Counts the messages in each state, and says whether the queue is paused.
-- KEYS: pending ready unack retry counts state
-- ARGV: notAfter
-- Reply: {now, scheduled, due, leased, paused}
--
-- A lease that has ended counts as reclaimed. Beyond 1,000 of those the last attempts are not looked for.
local pending, ready, unack, retry, counts, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include places
local pending_due = redis.call("ZCOUNT", pending, "-inf", before_second) + redis.call("ZCOUNT", pending, in_second, passed)
local ended, lost = redis.call("ZCOUNT", unack, "-inf", passed), 0
if ended > 0 then
  local ids = redis.call("ZRANGEBYSCORE", unack, "-inf", passed, "LIMIT", 0, 1000)
  for _, retries in ipairs(redis.call("HMGET", counts, unpack(ids))) do
    if tonumber(retries or 0) <= 0 then
      lost = lost + 1
    end
  end
end
local listed = redis.call("LLEN", ready) + redis.call("LLEN", retry)
local scheduled = redis.call("ZCARD", pending) - pending_due
return { now_text, scheduled, pending_due + listed + ended - lost, redis.call("ZCARD", unack) - ended, paused and 1 or 0 }
