-- Held: the fence. Needs `copies` (key), and the snippet copies; reads receipts from ARGV, from index `from`, with `width`
-- arguments each, of which id and token come first. Gives the letters for the reply (s: settled, l: lease lost), and for each
-- lease that is held its id, its copy, and where its arguments begin. A lease that has ended is held until somebody has taken
-- the message over; but with `ends_in`, a zset of their ends, only until then.
local function held_of(from, width, most, ends_in)
  local ids, letters, held_ids, held, at = {}, {}, {}, {}, {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  if most then
    for i = #ids, most(ids) + 1, -1 do
      ids[i] = nil
    end
  end
  for i, value in ipairs(read_all(copies, ids)) do
    local place = from + (i - 1) * width
    local copy = value and copy_of(value)
    letters[i] = "l"
    if copy and copy.token ~= "" and copy.token == ARGV[place + 1] then
      local ended = ends_in and tonumber(redis.call("ZSCORE", ends_in, copy.order .. ids[i]) or 0) <= now
      if not ended then
        letters[i] = "s"
        local n = #held + 1
        held_ids[n], held[n], at[n] = ids[i], copy, place
      end
    end
  end
  return table.concat(letters), held_ids, held, at
end
