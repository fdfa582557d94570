-- Recover: gives what this claim took before its reply was lost, a piece at a time. Part of claim. Needs the snippet last-claim.
if last_until then
  local ending, next_place = ending_behind(place)
  local ids, dues = {}, {}
  for i, value in ipairs(read_all(leased, ending)) do
    if value then
      local _, due, _, owner = lease_of(value)
      if owner == token then
        ids[#ids + 1], dues[#dues + 1] = ending[i], due
      end
    end
  end
  -- All of them, whatever they take: a claim took no more than fit.
  local old = read_all(failures, ids)
  for i, value in ipairs(read_all(messages, ids)) do
    if value then
      give(ids[i], dues[i], value, (failure_of(old[i])))
    end
  end
  -- Whether it is on duty it hears from its next claim.
  return { now_text, whole(last_until), whole(now), taken, {}, {}, {}, 0, next_place }
elseif place ~= "" then
  -- While it was read in pieces, its leases have ended: nothing is left of them.
  return { now_text, whole(now), whole(now), {}, {}, {}, {}, 0, "" }
end
