-- Deletes messages that were there when a purge began, and reads ids of others to be given next.
-- KEYS: ids state
-- ARGV: notAfter began cursor page [id]
-- Reply: {now, began, how many were deleted, cursor, {id, …}}
--
-- More KEYS: for each id its timer and its message. `began`: empty in the first call; its time, µs, is answered. `cursor`: where
-- to read about `page` ids of those that wait; empty to read none.
local ids, state = KEYS[1], KEYS[2]
local began, cursor, page = tonumber(ARGV[2]), ARGV[3], ARGV[4]
--- @include begin
--- @include values
--- @include timers
local removed, emptied, count = {}, {}, 0
for i = 1, (#KEYS - 2) / 2 do
  local timer, message = KEYS[2 * i + 1], KEYS[2 * i + 2]
  local due, stamp = times_of(message)
  if not due or stamp <= began then
    count = count + (due and 1 or 0)
    removed[#removed + 1] = ARGV[i + 4]
    emptied[#emptied + 1], emptied[#emptied + 2] = timer, message
  end
end
local read = { "", {} }
if cursor ~= "" then
  read = redis.call("SSCAN", ids, cursor, "COUNT", page)
end
if #removed > 0 then
  redis.call("SREM", ids, unpack(removed))
  redis.call("UNLINK", unpack(emptied))
end
return { now_text, whole(began or now_us), count, read[1], read[2] }
