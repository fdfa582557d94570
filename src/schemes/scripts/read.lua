-- Reads messages that are due, and leaves them where they are: as many as fit in any case.
-- KEYS: schedule state
-- ARGV: notAfter limit bytes largest skip
-- Reply: {now, whether more may be due, {member, due time, …}}
--
-- `bytes`: how many may be read; one message is read though it has more. A zset does not tell how large a member is before it is
-- read, so each counts as the largest that may wait: the field `biggest` of the state, and `largest`, which the caller has seen.
-- `skip`: where to begin, from 0, the first that is due, to 1, as near the end as there are enough.
local schedule, state = KEYS[1], KEYS[2]
local limit, bytes, largest, skip = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
--- @include begin
largest = math.max(biggest, largest)
-- Without either somebody else has written to the zset.
local fitting = largest > 0 and math.floor(bytes / largest) or 1
local count = math.max(1, math.min(limit, fitting))
local read
if skip > 0 then
  -- By place, since a LIMIT walks past all that it leaves out.
  local due = redis.call("ZCOUNT", schedule, "-inf", now)
  local first = math.floor(skip * math.max(0, due - count))
  read = due > 0 and redis.call("ZRANGE", schedule, first, math.min(first + count, due) - 1, "WITHSCORES") or {}
else
  read = redis.call("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", 0, count)
end
return { now_text, #read == 2 * count and 1 or 0, read }
