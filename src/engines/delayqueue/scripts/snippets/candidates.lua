-- Candidates: what a claim can take, in the order in which it is due, `limit` at most. Part of claim. Gives `candidates`, and
-- `exhausted`: those whose last lease has ended.
--
-- A lease that has ended leaves its message in `unack` until it can be taken again: no second list, and whoever looks at it
-- finds it. Only what can start is claimed, or the leases of the rest would use up its attempts.
local open = limit > 0 and not paused
local candidates, exhausted, others = {}, {}, {}

local ended = redis.call("ZRANGEBYSCORE", unack, "-inf", passed, "WITHSCORES", "LIMIT", 0, (open and limit or 0) + 125)
for i = 1, #ended, 2 do
  local id = ended[i]
  if tonumber(redis.call("HGET", counts, id) or 0) <= 0 then
    exhausted[#exhausted + 1] = id
  elseif open then
    local score = tonumber(ended[i + 1])
    -- Without a fraction it would mean the end of its second.
    local place = score == math.floor(score) and first_place(score * 1000) or score
    others[#others + 1] = { id = id, from = "unack", place = place }
  end
end

-- The lists first: programs of the Go library fill them with what was due, and say no more of when.
for _, from in ipairs(open and { "ready", "retry" } or {}) do
  local rest = limit - #candidates
  local listed = rest > 0 and redis.call("LRANGE", from == "ready" and ready or retry, -rest, -1) or {}
  if #listed > 0 then
    local is_pending, is_leased = redis.call("ZMSCORE", pending, unpack(listed)), redis.call("ZMSCORE", unack, unpack(listed))
    for i = #listed, 1, -1 do
      -- An entry that was left behind, by a message whose id is in use again.
      local stale = is_pending[i] or is_leased[i] or redis.call("SISMEMBER", garbage, listed[i]) == 1
      candidates[#candidates + 1] = { id = listed[i], from = from, place = first_place(now), stale = stale }
    end
  end
end

local due = {}
if open then
  for _, range in ipairs({ { "-inf", before_second }, { in_second, passed } }) do
    local rest = limit - #due / 2
    for _, value in ipairs(redis.call("ZRANGEBYSCORE", pending, range[1], range[2], "WITHSCORES", "LIMIT", 0, rest)) do
      due[#due + 1] = value
    end
  end
end
local i, j = 1, 1
while #candidates < limit and (due[i] or others[j]) do
  local place, other = tonumber(due[i + 1]), others[j]
  if place and not (other and other.place < place) then
    candidates[#candidates + 1] = { id = due[i], from = "pending", place = place }
    i = i + 2
  else
    candidates[#candidates + 1] = other
    j = j + 1
  end
end
