-- Held: the fence. Needs `leased` (key), and the snippet format. A lease that has ended is held until somebody has reclaimed it;
-- but with `ends_of`, which gives the ends of leases, only until then. `most` says how many of the ids one call may do.

-- Gives the letters for the reply (s: settled, l: lease lost), and for each lease that is held its id, its value, and its place.
local function held_among(ids, tokens, most, ends_of)
  local letters, held_ids, held, places, n = {}, {}, {}, {}, 0
  if most then
    for i = #ids, most(ids) + 1, -1 do
      ids[i] = nil
    end
  end
  local ends = ends_of and ends_of(ids)
  for i, value in ipairs(read_all(leased, ids)) do
    if value and sub(value, 20) == tokens[i] and (not ends or tonumber(ends[i] or 0) > now) then
      letters[i] = "s"
      n = n + 1
      held_ids[n], held[n], places[n] = ids[i], value, i
    else
      letters[i] = "l"
    end
  end
  return table.concat(letters), held_ids, held, places
end

-- The same for receipts in ARGV, from index `from`, with `width` arguments each, of which id and token come first. Gives where
-- the arguments of each begin instead of its place.
local function held_of(from, width, most, ends_of)
  local ids, tokens = {}, {}
  for i = from, #ARGV, width do
    ids[#ids + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1]
  end
  local letters, held_ids, held, at = held_among(ids, tokens, most, ends_of)
  for i, place in ipairs(at) do
    at[i] = from + (place - 1) * width
  end
  return letters, held_ids, held, at
end
