-- Moves what is due from the zset to the list, gives leases on what stands first in it, and says when to come back. Reclaims
-- leases that have ended on the way.
-- KEYS: schedule ready hand hands messages standing leases dead claims state waiting
-- ARGV: notAfter consumer order token limit room lease attempts channel returns hand place
-- Reply: {now, leaseUntil, nextAt, {id, due, value, deliveries so far, …}, {id, reason, …} buried, {id, …} missing, headAt,
--   hand that is overdue or ""[, place]}
--
-- `hand`: the caller's list, into which it pops when it blocks, and its name in `hands`. `room`: it has room for more than
-- `limit`. `headAt`: when the next message comes due that is not in the list; else empty. A claim made again, whose reply was lost,
-- is answered in pieces, each with the place behind which the next one begins: empty in the first call, and after the last.
local schedule, ready, hand, hands, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local leases, dead, claims, state, waiting = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local consumer, order, token, limit = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local room, lease, attempts, channel = ARGV[6] == "1", tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]
local returns, hand_name, place = ARGV[10] == "1", ARGV[11], ARGV[12]
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include body
--- @include bodies
--- @include records
--- @include reclaim
--- @include wake
local until_text = whole(now + lease)
local taken, buried, missing = {}, {}, {}
local function add(list, ...)
  for _, value in ipairs({ ... }) do
    list[#list + 1] = value
  end
end
drain(leases, standing, schedule)
drain(hands, messages, dead)

--- @include rank
--- @include id-order
--- @include last-claim
--- @include ending
if last_until then
  local ids, next_place = ending_behind(place)
  for i, text in ipairs(read_all(standing, ids)) do
    local record = text and record_of(text)
    local value = record and record.kind == "l" and record.text == token and redis.call("HGET", messages, ids[i])
    if value then
      add(taken, ids[i], whole(record.due), value, record.count)
    end
  end
  return { now_text, whole(last_until), whole(now), taken, {}, {}, "", "", next_place }
elseif place ~= "" then
  -- While it was read in pieces, its leases have ended: nothing is left of them.
  return { now_text, whole(now), whole(now), {}, {}, {}, "", "", "" }
end

for _, id in ipairs(reclaim_oldest()) do
  add(buried, id, "attempts")
end

-- What stands first: what the caller popped when it blocked, then what is in the list.
local held = redis.call("LRANGE", hand, 0, -1)
local line = {}
if paused or limit < #held then
  put_back(held)
else
  for i = #held, 1, -1 do
    -- One that was put back or rescheduled meanwhile has its place in the zset.
    if not redis.call("ZSCORE", schedule, sub(held[i], 9)) then
      line[#line + 1] = held[i]
    end
  end
end
local from_hand = #line
if limit > 0 and not paused then
  move_due()
  for _, entry in ipairs(first_in_line(limit - from_hand)) do
    line[#line + 1] = entry
  end
end

local ids = {}
for i, entry in ipairs(line) do
  ids[i] = sub(entry, 16)
end
local values = read_bodies(ids)
local old = read_all(standing, ids)
local records, ends, burials = {}, {}, {}
for i, value in ipairs(values) do
  local id, due, seq = ids[i], (unpack_bytes(">d", line[i])), sub(line[i], 9, 15)
  local record = value and record_of(old[i], seq)
  if not value then
    -- Deleted by hand or evicted; cancelled messages are taken out of the list, but not out of a hand.
    if i > from_hand then
      add(missing, id)
    end
  elseif sub(value, 1, 7) == seq and record.kind == "w" then
    local expires, most = expiry_of(value), limit_of(value) or attempts
    local reason = expires and expires < now and "expired" or record.count >= most and "attempts"
    record.due, record.limit = due, most
    if reason then
      record.kind, record.text = "d", reason
      add(burials, whole(now), id)
      add(buried, id, reason)
    else
      record.kind, record.text = "l", token
      add(ends, until_text, id)
      add(taken, id, whole(due), value, record.count)
    end
    add(records, id, value_of(record))
  end
end
local from_list = math.max(0, #values - from_hand)
local rest = {}
for i = #values + 1, from_hand do
  rest[#rest + 1] = line[i]
end
put_back(rest)

local left = redis.call("LLEN", ready) - from_list
local head = not paused and redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES")[2]
local first_end = redis.call("ZRANGE", leases, 0, 0, "WITHSCORES")[2]
local overdue = redis.call("ZRANGE", hands, 0, 1, "WITHSCORES")
overdue = { overdue[1] == hand_name and overdue[3] or overdue[1], tonumber(overdue[1] == hand_name and overdue[4] or overdue[2]) }
local plan = math.min(now + poll, tonumber(head or math.huge), tonumber(first_end or math.huge), overdue[2] or math.huge)
plan = #taken > 0 and math.min(plan, tonumber(until_text)) or plan
if left > 0 and not paused then
  plan = now
end
local known, full = last, limit == 0 or (#taken == limit * 4 and not room)
--- @include turn

local last_end = "^%d+ (%d+)"
--- @include silent
turn_write()
variadic("HDEL", claims, silent)
note_claim(#taken > 0, now + lease)
variadic("HSET", standing, records)
variadic("HDEL", standing, missing)
variadic("ZADD", leases, ends)
variadic("ZADD", dead, burials)
if from_list > 0 then
  redis.call("RPOP", ready, from_list)
end
if #held > 0 then
  redis.call("DEL", hand)
end
redis.call("ZREM", hands, hand_name)
local late = overdue[2] and overdue[2] <= now and overdue[1] or ""
return { now_text, until_text, whole(next_at), taken, buried, missing, head and whole(head) or "", late }
