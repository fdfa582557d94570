-- Tells which messages are due, and reads ids of others to be asked for next.
-- KEYS: ids state
-- ARGV: notAfter cursor page
-- Reply: {now, whether there is a pause, standings, cursor, {id, …}}
--
-- More KEYS: the message of each id. `standings` has a letter for each: d due, w not due yet, g gone. `cursor`: where to read
-- about `page` ids of those that wait; empty to read none.
local ids, state = KEYS[1], KEYS[2]
local cursor, page = ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include timers
local standings = {}
for i = 3, #KEYS do
  local due = times_of(KEYS[i])
  standings[i - 2] = not due and "g" or due <= now and "d" or "w"
end
local read = { "", {} }
if cursor ~= "" then
  read = redis.call("SSCAN", ids, cursor, "COUNT", page)
end
return { now_text, paused and 1 or 0, table.concat(standings), read[1], read[2] }
