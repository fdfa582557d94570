-- Next due: when the first of what is pending and not due comes due. Needs `pending`, and the snippet places.
local function next_due()
  local at = math.huge
  if redis.call("ZCOUNT", pending, this_second, this_second) > 0 then
    at = due_at(tonumber(this_second))
  end
  local first = tonumber(redis.call("ZRANGEBYSCORE", pending, to_come, "+inf", "WITHSCORES", "LIMIT", 0, 1)[2] or "")
  if first then
    at = math.min(at, due_at(first))
    -- A whole second is due at its end: what lies in it comes before.
    local after = redis.call("ZRANGEBYSCORE", pending, "(" .. text_of(first), "+inf", "WITHSCORES", "LIMIT", 0, 1)[2]
    at = math.min(at, after and due_at(tonumber(after)) or math.huge)
  end
  return at
end
