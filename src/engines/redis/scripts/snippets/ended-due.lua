-- Ended due: the leases that have ended, in the order of the list, from the place on. Part of list-waiting. Gives `ended`;
-- `ended_cut`: nothing is known of what comes after the last of these; and `crowd`, see below.
--
-- Leases lie in the order of their ends and ids, so those that end in one ms are put in order here, which takes all of them.
-- When they are more than `together`, or their errors too large, they are a crowd: an entry that is passed over stands
-- before it, and the client reads it in parts, chooses who comes first, and calls again with these.
local together = 700
-- Places before and behind all of one ms.
local start_of_ms, end_of_ms = string.rep("\0", 7), string.rep("\255", 7)
local ended, ended_cut, crowd = {}, false, nil

-- Up to here all is known, whatever was passed over.
local function known_up_to(score, tail)
  return { score = score, order = order_of(tail), tail = tail, skip = true }
end

local function crowd_at(score)
  return known_up_to(score, after_order >= 0 and score == low and ARGV[7] or start_of_ms)
end

if wants_due then
  local some, edge, up_to = {}, whole(low), end_of_ms
  if ARGV[8] then
    local chosen = {}
    for i = 9, #ARGV do
      chosen[#chosen + 1] = ARGV[i]
    end
    -- One that was reclaimed since then is found in `schedule`, in the same place.
    for i, deadline in ipairs(#chosen > 0 and redis.call("ZMSCORE", leases, unpack(chosen)) or {}) do
      if deadline and tonumber(deadline) == low then
        some[#some + 1], some[#some + 2] = chosen[i], deadline
      end
    end
    up_to = ARGV[8]
    ended_cut = up_to ~= end_of_ms or redis.call("ZCOUNT", leases, "(" .. edge, whole(high)) > 0
  else
    local from = (ARGV[7] == end_of_ms and after == low and "(" or "") .. edge
    -- Some more than fit, since those behind the last end are not known to be all of their ms.
    local most = limit + 50
    some = redis.call("ZRANGEBYSCORE", leases, from, whole(high), "WITHSCORES", "LIMIT", 0, most)
    ended_cut = #some == 2 * most
    if ended_cut then
      local count = #some
      edge = some[count]
      while count > 0 and some[count] == edge do
        some[count], some[count - 1] = nil, nil
        count = count - 2
      end
      if count > 0 then
        edge = some[count]
      elseif redis.call("ZCOUNT", leases, edge, edge) > together then
        crowd = crowd_at(tonumber(edge))
      else
        some = redis.call("ZRANGEBYSCORE", leases, edge, edge, "WITHSCORES")
        ended_cut = redis.call("ZCOUNT", leases, "(" .. edge, whole(high)) > 0
      end
    end
  end
  local entries = ended_entries(some, false, ARGV[8])
  if #entries < #some / 2 then
    -- Only what is known of all of a ms is known.
    local unread = tonumber(some[2 * #entries + 2])
    while #entries > 0 and entries[#entries].score == unread do
      entries[#entries] = nil
    end
    ended_cut = true
    if #entries == 0 then
      crowd = crowd_at(unread)
    else
      edge = whole(entries[#entries].score)
    end
  end
  for _, entry in ipairs(entries) do
    entry.order, entry.tail = order_of(entry.seq), entry.seq
    if entry.score > low or entry.order > after_order then
      ended[#ended + 1] = entry
    end
  end
  table.sort(ended, precedes)
  if ended_cut then
    ended[#ended + 1] = crowd or known_up_to(tonumber(edge), up_to)
  end
end
