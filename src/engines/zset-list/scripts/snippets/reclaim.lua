-- Reclaim: a message whose lease has ended is due again as of its end, one attempt used, or dead after the last. Needs
-- `schedule` and the snippet records. Complete in itself, so that an error after it leaves nothing half done.

-- `ended`: id, end, id, end … Gives the ids that died.
local function reclaim(ended)
  local ids, places, records, burials, died = {}, {}, {}, {}, {}
  for i = 1, #ended, 2 do
    ids[#ids + 1] = ended[i]
  end
  for i, value in ipairs(read_all(standing, ids)) do
    if value then
      local record, id, at = record_of(value), ids[i], ended[2 * i]
      record.count = record.count + 1
      if record.count >= record.limit then
        record.kind, record.text = "d", "attempts"
        burials[#burials + 1], burials[#burials + 2] = at, id
        died[#died + 1] = id
      else
        record.kind, record.text = "w", ""
        places[#places + 1], places[#places + 2] = at, record.seq .. id
      end
      records[#records + 1], records[#records + 2] = id, value_of(record)
    end
  end
  variadic("HSET", standing, records)
  variadic("ZADD", schedule, places)
  variadic("ZADD", dead, burials)
  variadic("ZREM", leases, ids)
  return died
end

-- The oldest leases that have ended.
local function reclaim_oldest()
  return reclaim(redis.call("ZRANGEBYSCORE", leases, "-inf", now, "WITHSCORES", "LIMIT", 0, 125))
end

-- Those of `ids` whose leases have ended.
local function reclaim_these(ids)
  local ended = {}
  for i, at in ipairs(#ids > 0 and redis.call("ZMSCORE", leases, unpack(ids)) or {}) do
    if at and tonumber(at) <= now then
      ended[#ended + 1], ended[#ended + 2] = ids[i], at
    end
  end
  return reclaim(ended)
end
