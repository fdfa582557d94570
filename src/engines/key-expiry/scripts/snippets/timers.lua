-- Timers: a message, and the key beside it that expires when it is due. Needs `now` and the snippet values.
--
-- A message begins with its due time (f64), and when it was scheduled: µs (f64) and its place in that call (u16).
local head = 18

-- When a message is due, and when it was scheduled; `nil` where there is none.
local function times_of(message)
  local text = redis.call("GETRANGE", message, 0, head - 1)
  if #text == head then
    local due, stamp, place = unpack_bytes(">ddH", text)
    return due, stamp, place
  end
end

-- Redis deletes a key once its time is over, not when it has come: with 1 ms less it is gone at the due time. A time that has
-- come already may be taken for a deletion, of which nobody is told.
local function set_timer(timer, due)
  redis.call("SET", timer, "", "PXAT", whole(math.max(due - 1, now + 1)))
end

-- What is due at once has no timer, so it is told here: ids with their lengths (u16). Call it before the first write.
local function tell_due(told, ids)
  if #ids > 0 then
    local parts = {}
    for i, id in ipairs(ids) do
      parts[i] = pack(">Hc0", #id, id)
    end
    redis.call("PUBLISH", told, table.concat(parts))
  end
end
