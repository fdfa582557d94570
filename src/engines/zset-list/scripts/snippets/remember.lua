-- Remember: the ids of messages that are gone stay known for as long as the queue was asked to. Needs `gone` (key), `now`,
-- `fields` (snippet begin), and the snippet values.
local remember_for = tonumber(fields[9] or 0)

-- Call it before the messages are deleted.
local function remember(ids)
  if remember_for == 0 or #ids == 0 then
    return
  end
  local ends, until_text = {}, whole(now + remember_for)
  for i, id in ipairs(ids) do
    ends[2 * i - 1], ends[2 * i] = until_text, id
  end
  variadic("ZADD", gone, ends)
  -- Twice as many as came are forgotten, so those that are over do not grow.
  local over = redis.call("ZCOUNT", gone, "-inf", now)
  if over > 0 then
    redis.call("ZREMRANGEBYRANK", gone, 0, math.min(over, 2 * #ids) - 1)
  end
end

-- When the message of each id went, where it is remembered.
local function went_of(ids)
  local went = {}
  if remember_for > 0 and #ids > 0 then
    for i, at in ipairs(redis.call("ZMSCORE", gone, unpack(ids))) do
      -- The time may have been another one when it went.
      went[i] = at and tonumber(at) > now and math.min(tonumber(at) - remember_for, now)
    end
  end
  return went
end
