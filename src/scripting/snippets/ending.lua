-- Ending: which leases end when those of a claim do that is made again. Needs `leases` (key), and the snippets values, rank,
-- id-order and last-claim.

-- The members of `leases` that end when those of the claim do, behind `place` ("": from the first on), and the place behind which
-- to go on, or "". A call looks at 1,000 of them at most: thousands can end in one ms.
local function ending_behind(place)
  local first = rank_after(leases, last_until, function(member)
    return not id_precedes(place, member)
  end)
  local found, more = entries_from(leases, first, redis.call("ZCOUNT", leases, "-inf", whole(last_until)), 1000)
  local members = {}
  for i = 1, #found, 2 do
    members[#members + 1] = found[i]
  end
  return members, more and members[#members] or ""
end
