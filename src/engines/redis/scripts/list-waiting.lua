-- Reads messages that are scheduled, or due, in order, after a place. Gives as many as fit into the budget of bytes.
-- KEYS: schedule messages leases leased failures state
-- ARGV: notAfter state from to limit after sequence
-- Reply: {now, [message], after, sequence}
--
-- A message is its id and then as in get. `after` (a due time) and `sequence` are the place of the last that was looked at;
-- empty in the first call, and in the reply when there are no more. Due are also the messages whose leases have ended, as of
-- the lease's end.
local schedule, messages, leases, leased, failures, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include rank
--- @include page

local wants_due = ARGV[2] == "due"
local low, high, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local after = tonumber(ARGV[6])
-- Sequence numbers are compared as numbers: how Lua compares text depends on the server's locale.
local function order_of(text)
  return (unpack_bytes(">I7", text))
end
if wants_due then
  high = math.min(high, now)
else
  low = math.max(low, now + 1)
end

local first = redis.call("ZCOUNT", schedule, "-inf", "(" .. whole(low))
local after_order = -1
if after and after >= low then
  low, after_order = after, order_of(ARGV[7])
  first = rank_after(schedule, after, function(member)
    return order_of(member) <= after_order
  end)
end
local found, cut = entries_from(schedule, first, redis.call("ZCOUNT", schedule, "-inf", whole(high)), limit)
local waiting = {}
for i = 1, #found, 2 do
  local seq = sub(found[i], 1, 7)
  waiting[#waiting + 1] = { score = tonumber(found[i + 1]), order = order_of(seq), id = sub(found[i], 8), seq = seq, tail = seq }
end

-- Leases lie in the order of their ends and ids. Those that end in one ms are put in order here, so they are read together:
-- as many as Redis could give or extend in one ms.
local function precedes(a, b)
  if a.score ~= b.score then
    return a.score < b.score
  end
  return a.order < b.order
end
local ended, ended_cut = {}, false
-- A place behind all of one ms.
local end_of_ms = string.rep("\255", 7)
if wants_due then
  local from = (ARGV[7] == end_of_ms and after == low and "(" or "") .. whole(low)
  -- Some more than fit, since those behind the last end are not known to be all of their ms.
  local most = limit + 50
  local some = redis.call("ZRANGEBYSCORE", leases, from, whole(high), "WITHSCORES", "LIMIT", 0, most)
  ended_cut = #some == 2 * most
  local edge = some[#some]
  if ended_cut then
    local count = #some
    while count > 0 and some[count] == edge do
      some[count], some[count - 1] = nil, nil
      count = count - 2
    end
    if count == 0 then
      some = redis.call("ZRANGEBYSCORE", leases, edge, edge, "WITHSCORES")
      ended_cut = redis.call("ZCOUNT", leases, "(" .. edge, whole(high)) > 0
    else
      edge = some[count]
    end
  end
  for _, entry in ipairs(ended_entries(some, false)) do
    entry.order, entry.tail = order_of(entry.seq), entry.seq
    if entry.score > low or entry.order > after_order then
      ended[#ended + 1] = entry
    end
  end
  table.sort(ended, precedes)
  if ended_cut then
    -- Up to here all is known, whatever was passed over.
    ended[#ended + 1] = { score = tonumber(edge), order = math.huge, tail = end_of_ms, skip = true }
  end
end
return page_of("waiting", limit, precedes, waiting, cut, ended, ended_cut)
