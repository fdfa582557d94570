-- Reads messages that are due, and leaves them where they are: as many as fit in any case.
-- KEYS: schedule state
-- ARGV: notAfter limit bytes largest
-- Reply: {now, whether more may be due, {member, due time, …}}
--
-- `bytes`: how many may be read; one message is read though it has more. A zset does not tell how large a member is before it is
-- read, so each counts as the largest that may wait: the field `biggest` of the state, and `largest`, which the caller has seen.
local schedule, state = KEYS[1], KEYS[2]
local limit, bytes, largest = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
--- @include begin
largest = math.max(biggest, largest)
-- Without either somebody else has written to the zset.
local fitting = largest > 0 and math.floor(bytes / largest) or 1
local count = math.max(1, math.min(limit, fitting))
local read = redis.call("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", 0, count)
return { now_text, #read == 2 * count and 1 or 0, read }
