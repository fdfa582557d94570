-- Removes messages that wait.
-- KEYS: ids state
-- ARGV: notAfter [id]
-- Reply: {now, outcomes}
--
-- More KEYS: for each id its timer and its message. `outcomes` has a letter for each: c cancelled, a absent.
local ids, state = KEYS[1], KEYS[2]
--- @include begin
local outcomes, removed, emptied = {}, {}, {}
for i = 2, #ARGV do
  local timer, message = KEYS[2 * i - 1], KEYS[2 * i]
  outcomes[#outcomes + 1] = redis.call("EXISTS", message) == 1 and "c" or "a"
  removed[#removed + 1] = ARGV[i]
  emptied[#emptied + 1], emptied[#emptied + 2] = timer, message
end
redis.call("SREM", ids, unpack(removed))
redis.call("UNLINK", unpack(emptied))
return { now_text, table.concat(outcomes) }
