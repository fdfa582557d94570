-- Place: the score behind all that are pending in one ms already, so that they keep their order. Needs `pending`, and the
-- snippet places. Where a ms has no place left, the next one has: that message is due 1 ms later. Beyond `most_spilled` ms, a
-- million messages, the last place is given again.
local last_places, most_spilled = {}, 250
local function place_at(ms)
  for spilled = 0, most_spilled do
    local at, first, last_of_ms = ms + spilled, nil, (ms + spilled + 1) / 1000
    first, last_of_ms = first_place(at), last_of_ms - 2 * step_at(last_of_ms)
    local last = last_places[at]
    if not last then
      local found = redis.call("ZREVRANGEBYSCORE", pending, text_of(last_of_ms), text_of(first), "WITHSCORES", "LIMIT", 0, 1)
      last = tonumber(found[2] or "") or 0
    end
    local place = last > 0 and last + step_at(last) or first
    -- Of times in the far future a ms has no place but the first.
    if place <= last_of_ms or place == first or spilled == most_spilled then
      last_places[at] = math.min(place, math.max(first, last_of_ms))
      return last_places[at]
    end
    last_places[at] = last
  end
end
