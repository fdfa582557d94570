-- Once: a call that is made again, because its reply was lost, is answered as it was the first time, since what it found then
-- is not there any more. Needs `state` (key), `now`, `now_text`, and in ARGV[2] to ARGV[4] the name of the operation, the
-- number of this call in it, and the server's time at which it was first made, at the latest.
--
-- `state` keeps the answer of one call. `overwritten`: another operation may have put its own there since this call was first
-- made, so that a call made again cannot know whether it ran before.
local operation, step, since = ARGV[2], ARGV[3], tonumber(ARGV[4])
local answered_at, answered_operation, answered_step, answered =
  string.match(redis.call("HGET", state, "answered") or "", "^(%d+) (%S+) (%d+) (.*)$")
local overwritten = 0
if answered_operation == operation then
  if answered_step == step then
    return { now_text, answered, 0 }
  end
elseif answered_at and tonumber(answered_at) >= since then
  overwritten = 1
end

-- Call it after `drain`, and before anything is done: what stops it must leave everything there. Gives the reply. A call that has
-- done nothing may well be done again.
local function answer(text, done)
  if done > 0 then
    redis.call("HSET", state, "answered", string.format("%.0f %s %s %s", now, operation, step, text))
  end
  return { now_text, text, overwritten }
end
