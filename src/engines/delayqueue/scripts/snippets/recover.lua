-- Recover: the reply of this claim was lost. Part of claim. Its leases are found by their end, and told by their token.
local last = redis.call("HGET", claims, consumer)
if last then
  local last_order, last_until, last_not_after, last_token = string.match(last, "^(%d+) (%d+) (%d+) (.*)$")
  local ahead = tonumber(last_order) - tonumber(order)
  -- An attempt that hung on its way would take leases that nobody hears of.
  if ahead > 0 or (ahead == 0 and tonumber(last_not_after) > tonumber(ARGV[1])) then
    return redis.error_reply("STALE a later claim of this consumer has run")
  end
  if last_token == token and tonumber(last_until) > now then
    local ending, found = tonumber(last_until) / 1000, {}
    local same = redis.call("ZRANGEBYSCORE", unack, text_of(ending), "(" .. text_of(ending + 0.001))
    for i, value in ipairs(read_notes(same)) do
      local note = note_of(value)
      if value and note.token == token then
        found[#found + 1] = { id = same[i], note = note }
      end
    end
    table.sort(found, function(a, b)
      return a.note.place < b.note.place
    end)
    for _, entry in ipairs(found) do
      local payload = redis.call("GET", messages .. entry.id)
      if payload then
        give(entry.id, entry.note, payload, tonumber(redis.call("HGET", counts, entry.id) or 0))
      end
    end
    return { now_text, last_until, whole(now), taken, {}, 0 }
  end
end
