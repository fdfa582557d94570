-- Last take: for scripts that take messages out of Redis. What an attempt of this call took whose reply was lost is nowhere any
-- more, but its ids are noted. Needs `claims` (key), `now`, `consumer`, `call`, `again`, `limit`, and the snippet values. Gives
-- `known`, the note of this consumer, `lost`, the ids of what such an attempt took, and for the snippet silent `last_end`. Sets
-- `limit` to 0 when an answer would come late: then nothing is to be taken.
--
-- `claims`: consumer → when it ran, 1 when it was made again or 0, the call, and the ids, each as length (u16) and text.
local known, last_end = redis.call("HGET", claims, consumer), "^%d+"
local last_again, last_call, lost = string.match(known or "", "^%d+ ([01]) (%S+) (.*)$")
if last_call == call then
  -- One that hung on its way, and runs when it was given up: whatever it took nobody would hear of.
  again = again or last_again == "1"
else
  lost = ""
end
if again then
  limit = 0
end

-- To be called before anything is taken out.
local function note_take(ids)
  local took = { lost }
  for i, id in ipairs(ids) do
    took[i + 1] = pack(">Hc0", #id, id)
  end
  redis.call("HSET", claims, consumer, whole(now) .. (again and " 1 " or " 0 ") .. call .. " " .. table.concat(took))
end
