-- Recover: gives what this claim took before its reply was lost, a piece at a time. Part of claim. Needs `place`, and the snippets
-- last-claim and ranks. Its leases are found by their end, and told by their token. Their scores grow in the order in which it took
-- them, so that of the pieces is the right one.
if last_until then
  local score, id = string.match(place, "^(%S+) (.*)$")
  local behind, ending = score and { score = tonumber(score), id = id }, last_until / 1000
  -- Of the thousands that can end in one ms, 1,000 a call.
  local entries, more = entries_of(unack, ending, ending + 0.001, behind, 1000)
  local same = {}
  for i, entry in ipairs(entries) do
    same[i] = entry.id
  end
  for i, value in ipairs(read_notes(same)) do
    local note = note_of(value)
    local payload = value and note.token == token and redis.call("GET", messages .. same[i])
    if payload then
      give(same[i], note, payload, tonumber(redis.call("HGET", counts, same[i]) or 0))
    end
  end
  local final = entries[#entries]
  local next_place = more and text_of(final.score) .. " " .. final.id or ""
  return { now_text, whole(last_until), whole(now), taken, {}, 0, next_place }
elseif place ~= "" then
  -- While it was read in pieces, its leases have ended: nothing is left of them.
  return { now_text, whole(now), whole(now), {}, {}, 0, "" }
end
