-- Recover: gives what this claim took before its reply was lost, a piece at a time. Part of claim. Needs the snippet last-claim.
if last_until then
  local ending, next_place = ending_behind(place)
  local ids = {}
  for i, member in ipairs(ending) do
    ids[i] = sub(member, 8)
  end
  for i, text in ipairs(read_all(copies, ids)) do
    local copy = text and copy_of(text)
    local value = copy and copy.token == token and redis.call("HGET", messages, ids[i])
    if value then
      give(ids[i], copy.due, value, copy.count)
    end
  end
  return { now_text, whole(last_until), whole(now), taken, {}, {}, next_place }
elseif place ~= "" then
  -- While it was read in pieces, its leases have ended: nothing is left of them.
  return { now_text, whole(now), whole(now), {}, {}, {}, "" }
end
