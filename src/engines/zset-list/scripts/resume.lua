-- Ends a pause and wakes a consumer for what came due meanwhile.
-- KEYS: schedule state waiting
-- ARGV: notAfter channel
-- Reply: {now}
local schedule, state, waiting = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include drain
local channel = ARGV[2]
--- @include wake
--- @include end-pause
return { now_text }
