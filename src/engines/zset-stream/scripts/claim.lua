-- Moves due messages to the stream, reads them as a consumer of the group, takes over what others left, and says when to claim
-- again.
-- KEYS: schedule messages moved lost stream groups queue leases again copies dead failures claims state waiting
-- ARGV: notAfter group consumer order token limit room lease attempts channel returns place silence
-- Reply: {now, leaseUntil, nextAt, {id, due, value, attempts so far, …}, {id, reason, …} buried, {id, …} missing[, place]}
--
-- A claim made again, whose reply was lost, is answered in pieces, each with the place behind which the next one begins: empty
-- in the first call, and after the last.
local schedule, messages, moved, lost, stream, groups = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local leases, again, copies, dead, failures, claims = KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local state = KEYS[7]
--- @include begin
local group, consumer, order, token = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
-- `room`: the caller has room for more than `limit`.
local limit, room = tonumber(ARGV[6]), ARGV[7] == "1"
local lease_until, attempts, channel = now + tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
-- Whether the caller claims again at `nextAt`.
local returns, place = ARGV[11] == "1", ARGV[12]
local until_text = string.format("%.0f", lease_until)
local taken, buried_reply, missing = {}, {}, {}
--- @include values
--- @include body
--- @include bodies
--- @include copies
--- @include drain
local function give(id, due, value, count)
  local n = #taken
  taken[n + 1], taken[n + 2], taken[n + 3], taken[n + 4] = id, whole(due), value, count
end
drain(leases, copies, schedule)
--- @include group
--- @include rank
--- @include id-order
--- @include last-claim
--- @include ending
--- @include recover
--- @include candidates
--- @include outcome

-- The first that stays of each place, and the first lease that ends; in a pause there is nothing to come back for.
local state, waiting = KEYS[14], KEYS[15]
local fields = waking_of(state)
--- @include wake
local plan = now + poll
if not paused then
  local taken_of = { f = 0, a = 0, e = #last_ones, u = 0 }
  for _, one in ipairs(chosen) do
    taken_of[one.kind] = taken_of[one.kind] + 1
  end
  for kind, key in pairs({ f = schedule, a = again, e = leases }) do
    local head = redis.call("ZRANGE", key, taken_of[kind], taken_of[kind], "WITHSCORES")[2]
    plan = math.min(plan, tonumber(head or plan))
  end
  if taken_of.u < #unread or more_unread then
    plan = now
  end
  plan = math.min(plan, #lease_pairs > 0 and lease_until or plan)
end
local known, full = last, limit == 0 or (#taken == limit * 4 and not room)
--- @include turn
--- @include sweep

-- Write. The books come first: what stops these stops the claim before it has moved a message.
turn_write()
if not layout then
  redis.call("HSET", KEYS[7], "v", 1)
end
note_claim(#taken > 0, lease_until)
variadic("HDEL", claims, old_claims)
for _, name in ipairs(old_consumers) do
  redis.call("XGROUP", "DELCONSUMER", stream, group, name)
end
variadic("HSET", failures, failure_pairs)
local copy_pairs, moved_pairs, owners = {}, {}, {}
for id, copy in pairs(kept) do
  add(copy_pairs, id, copy_value(copy))
  if copy.owner then
    local key = copy.owner .. " " .. copy.delivered
    owners[key] = owners[key] or { "XCLAIM", stream, group, copy.owner, 0 }
    add(owners[key], entry_id(copy))
  end
end
variadic("HSET", copies, copy_pairs)
for _, one in ipairs(moves) do
  add(moved_pairs, one.id, moved_value(one.due, one.ms, one.n))
  redis.call("XADD", stream, entry_id(one), "m", one.member)
end
variadic("HSET", moved, moved_pairs)
if reads > 0 then
  redis.call("XREADGROUP", "GROUP", group, consumer, "COUNT", reads, "STREAMS", stream, ">")
end
-- FORCE: where the group was lost with its list, an entry is not in it until it was read again.
for key, command in pairs(owners) do
  add(command, "RETRYCOUNT", (string.match(key, "%d+$")))
  add(command, "FORCE", "JUSTID")
  redis.call(unpack(command))
end
if #void > 0 then
  redis.call("XACK", stream, group, unpack(void_entries))
  redis.call("XDEL", stream, unpack(void_entries))
  variadic("HDEL", moved, void)
end
variadic("ZADD", dead, dead_pairs)
variadic("ZADD", leases, lease_pairs)
variadic("ZREM", leases, left_leases)
variadic("ZREM", again, left_again)
variadic("ZREM", schedule, left)
variadic("HDEL", copies, forgotten)
variadic("HDEL", failures, forgotten)
return { now_text, until_text, whole(next_at), taken, buried_reply, missing }
