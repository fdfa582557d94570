-- Held: the fence. Needs `leased` (key), and the snippet format; reads receipts from ARGV, from index `from`, with `width`
-- arguments each, of which id and token come first. Gives the letters for the reply (s: settled, l: lease lost), and for
-- each lease that is held its id, its value, and where its arguments begin. A lease that has ended is held until somebody has
-- reclaimed it; but with `ends_of`, which gives the ends of leases, only until then.
local function held_of(from, width, most, ends_of)
  local ids, letters, held_ids, held, at = {}, {}, {}, {}, {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  if most then
    for i = #ids, most(ids) + 1, -1 do
      ids[i] = nil
    end
  end
  local ends = ends_of and ends_of(ids)
  for i, value in ipairs(read_all(leased, ids)) do
    local place = from + (i - 1) * width
    if value and sub(value, 20) == ARGV[place + 1] and (not ends or tonumber(ends[i] or 0) > now) then
      letters[i] = "s"
      local n = #held + 1
      held_ids[n], held[n], at[n] = ids[i], value, place
    else
      letters[i] = "l"
    end
  end
  return table.concat(letters), held_ids, held, at
end
