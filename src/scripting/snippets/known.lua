-- Known: ids whose messages are gone but remembered. Needs `gone` (key), `now`, `fields` (snippet begin).
local remember_for = tonumber(fields[9] or 0)

-- When the message of each id went, where it is remembered.
local function went_of(ids)
  local went = {}
  if remember_for == 0 or #ids == 0 or redis.call("EXISTS", gone) == 0 then
    return went
  end
  for i, until_time in ipairs(redis.call("ZMSCORE", gone, unpack(ids))) do
    if until_time and tonumber(until_time) > now then
      -- The time may have been another one when it went.
      went[i] = math.min(tonumber(until_time) - remember_for, now)
    end
  end
  return went
end
