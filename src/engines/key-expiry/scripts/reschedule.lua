-- Sets another due time for messages that wait.
-- KEYS: ids state
-- ARGV: notAfter told [id kind when]
-- Reply: {now, outcomes}
--
-- More KEYS: for each id its timer and its message. `kind` and `when` as in snippets/due.lua. `outcomes` has a letter for each:
-- r rescheduled, a absent.
local ids, state = KEYS[1], KEYS[2]
local told = ARGV[2]
--- @include begin
--- @include values
--- @include due
--- @include timers
-- Where in a message it stands when it was due at first, by which its expiry goes; zeros while that is its due time.
local first_due = head + 4
local outcomes, moves, at_once = {}, {}, {}
for i = 1, (#KEYS - 2) / 2 do
  local was = times_of(KEYS[2 * i + 2])
  outcomes[i] = was and "r" or "a"
  if was then
    local due = due_of(ARGV[3 * i + 1], ARGV[3 * i + 2])
    moves[#moves + 1] = { KEYS[2 * i + 1], KEYS[2 * i + 2], was, due }
    if due <= now then
      at_once[#at_once + 1] = ARGV[3 * i]
    end
  end
end
tell_due(told, at_once)
for _, move in ipairs(moves) do
  local timer, message, was, due = move[1], move[2], move[3], move[4]
  if redis.call("GETRANGE", message, first_due, first_due + 7) == string.rep("\0", 8) then
    redis.call("SETRANGE", message, first_due, pack(">d", was))
  end
  redis.call("SETRANGE", message, 0, pack(">d", due))
  if due > now then
    set_timer(timer, due)
  else
    redis.call("UNLINK", timer)
  end
end
return { now_text, table.concat(outcomes) }
