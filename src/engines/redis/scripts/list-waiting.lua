-- Reads messages that are scheduled, or due, in order, after a place. Gives as many as fit into the budget of bytes.
-- KEYS: schedule messages leases leased failures state
-- ARGV: notAfter state from to limit after sequence [upTo [id]]
-- Reply: {now, [message], after, sequence, crowd}
--
-- A message is its id and then as in get. `after` (a due time) and `sequence` are the place of the last that was looked at;
-- empty in the first call, and in the reply when there are no more. Due are also the messages whose leases have ended, as of
-- the lease's end.
--
-- `crowd`: 1 when the part ends where more leases ended in one ms than can be put in order here, else 0. Then the client calls
-- list-ended, and this again from there on with the ids that come first; up to the sequence number `upTo` these are all.
local schedule, messages, leases, leased, failures, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include rank
--- @include failures
--- @include ended
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

local function precedes(a, b)
  if a.score ~= b.score then
    return a.score < b.score
  end
  return a.order < b.order
end
--- @include ended-due

local reply = page_of("waiting", limit, precedes, waiting, cut, ended, ended_cut)
reply[5] = crowd and reply[3] == whole(crowd.score) and reply[4] == crowd.tail and 1 or 0
return reply
