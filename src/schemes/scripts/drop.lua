-- Counts messages that were given up, since the scheme keeps no dead letters.
-- KEYS: state
-- ARGV: notAfter count
-- Reply: {now, how many were given up so far}
local state = KEYS[1]
--- @include begin
return { now_text, redis.call("HINCRBY", state, "dropped", ARGV[2]) }
