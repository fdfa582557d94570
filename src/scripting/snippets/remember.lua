-- Remember: the ids of messages that are gone stay known for as long as the queue was asked to. Needs `gone` (key), `now`,
-- `fields` (snippet begin), and the snippet values.
local remember_for = tonumber(fields[9] or 0)

-- Call it after `drain`, and before the messages are deleted: what stops it must leave them there.
local function remember(ids)
  if remember_for == 0 or #ids == 0 then
    return
  end
  local pairs_of, until_text = {}, whole(now + remember_for)
  for i, id in ipairs(ids) do
    pairs_of[2 * i - 1], pairs_of[2 * i] = until_text, id
  end
  variadic("ZADD", gone, pairs_of)
  -- Twice as many as came are forgotten, so the ids that are over do not grow; at most 1,000 go in one call.
  local over = redis.call("ZCOUNT", gone, "-inf", now)
  if over > 0 then
    redis.call("ZREMRANGEBYRANK", gone, 0, math.min(over, 2 * #ids, 1000) - 1)
  end
end
