-- Page: merges two ordered sources of entries, reads the bodies, and makes the reply of a list. Needs `now_text`, and the
-- snippets format, bodies and failures.
--
-- An entry is {score, order, id} and: `seq` that its message must have; `lease` when a lease has ended, with `due`; `skip`
-- when it is only passed over. Its score and `tail` are the place after which the next call goes on.

-- `cut`: the source has more than was read of it, so nothing is known of what comes after its last entry.
local function page_of(standing, limit, precedes, one, one_cut, other, other_cut)
  local entries, i, j = {}, 1, 1
  while #entries < limit do
    local a, b = one[i], other[j]
    if not (a or b) or (not a and one_cut) or (not b and other_cut) then
      break
    end
    if a and not (b and precedes(b, a)) then
      entries[#entries + 1], i = a, i + 1
    else
      entries[#entries + 1], j = b, j + 1
    end
  end
  local more, last = one_cut or other_cut or one[i] ~= nil or other[j] ~= nil, #entries
  local ids, places = {}, {}
  for place, entry in ipairs(entries) do
    if not entry.skip then
      ids[#ids + 1], places[#places + 1] = entry.id, place
    end
  end
  local old, rows = read_failures(ids), {}
  local values = read_bodies(ids)
  if #values < #places then
    last, more = places[#values], true
  end
  for k, value in ipairs(values) do
    local entry, failure = entries[places[k]], old[k] or ""
    -- An entry without its message is no message; an audit finds it.
    if value and (not entry.seq or sub(value, 1, 7) == entry.seq) then
      local count, _, last_due = failure_of(old[k])
      local score = whole(entry.score)
      local due = standing == "waiting" and entry.score or entry.due or last_due
      rows[#rows + 1] = { entry.id, standing, value, whole(due), count + (entry.lease and 1 or 0), entry.lease and score or
        "0", failure, score }
    end
  end
  local place = more and entries[last]
  return { now_text, rows, place and whole(place.score) or "", place and place.tail or "" }
end
