-- Names the consumers that may have something in their hands.
-- KEYS: hands state
-- ARGV: notAfter
-- Reply: {now, {consumer, …}}
local hands, state = KEYS[1], KEYS[2]
--- @include begin
return { now_text, redis.call("ZRANGE", hands, 0, 999) }
