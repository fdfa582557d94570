-- Takes due messages under a lease, reclaims leases that have ended, and says when to claim again.
-- KEYS: schedule messages leases leased failures dead claims state waiting gone
-- ARGV: notAfter consumer order token limit room lease attempts channel returns place mostDead deadFor
-- Reply: {now, leaseUntil, nextAt, {id, due, value, attempts so far, …}, {id, reason, …} buried, {id, …} missing,
--   {id, …} dropped, how many were dropped so far[, place]}
--
-- A claim made again, whose reply was lost, is answered in pieces, each with the place behind which the next one begins: empty
-- in the first call, and after the last.
local schedule, messages, leases, leased, failures = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local dead, claims, state, waiting, gone = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
--- @include begin
local consumer, order, token = ARGV[2], ARGV[3], ARGV[4]
-- `room`: the caller has room for more than `limit`.
local limit, room = tonumber(ARGV[5]), ARGV[6] == "1"
local lease_until, attempts, channel = now + tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]
-- Whether the caller claims again at `nextAt`.
local returns = ARGV[10] == "1"
local place, most_dead, dead_for = ARGV[11], tonumber(ARGV[12]), tonumber(ARGV[13])
-- Written out once: Redis writes out a number for each argument that is one, which took a third of the ZADD.
local until_text = string.format("%.0f", lease_until)
local taken, buried_reply, missing = {}, {}, {}
--- @include values
--- @include format
--- @include body
--- @include bodies
--- @include failures
--- @include drain
--- @include bury
--- @include remember
--- @include trim
--- @include wake
--- @include wide

local function give(id, due, value, count)
  local n = #taken
  taken[n + 1], taken[n + 2], taken[n + 3], taken[n + 4] = id, due, value, count
end
local function bury_and_tell(id, due, reason, count, error_at, error_json, at)
  bury(id, due, reason, count, error_at, error_json, at)
  buried_reply[#buried_reply + 1] = id
  buried_reply[#buried_reply + 1] = reason
end

drain(leases, leased, schedule)
-- Removes nothing; as in `drain`, it tries what comes last.
redis.call("ZREMRANGEBYRANK", schedule, 1, 0)
--- @include rank
--- @include id-order
--- @include last-claim
--- @include ending
--- @include recover
--- @include reclaim

-- What was reclaimed counts: the caller has room for what it does not get for that.
if limit > 250 - reclaimed then
  limit, room = 250 - reclaimed, true
end
-- Take. First everything is read and decided, then PUBLISH, then the writes.
local found = {}
if limit > 0 and not paused then
  found = redis.call("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", 0, limit)
end
local ids = {}
for i = 1, #found / 2 do
  ids[i] = sub(found[2 * i - 1], 8)
end
local old = read_failures(ids)
local values = read_bodies(ids)
local forgotten, lease_pairs, leased_pairs, given = {}, {}, {}, 0
-- Of messages with one due time and one limit all but seq is the same in `leased`.
local due_text, due, rest_most, rest
for i = 1, #ids do
  local id, seq, value = ids[i], sub(found[2 * i - 1], 1, 7), values[i]
  if found[2 * i] ~= due_text then
    due_text, rest = found[2 * i], nil
    due = tonumber(due_text)
  end
  if not value or sub(value, 1, 7) ~= seq then
    -- The body was evicted or deleted by hand, and perhaps the id scheduled anew: that one has an entry of its own.
    missing[#missing + 1] = id
    if not value then
      forgotten[#forgotten + 1] = id
    end
  else
    local count, error_at, error_json, most, expires = 0, 0, "", attempts, nil
    if old[i] then
      local _
      count, error_at, _, _, error_json = failure_of(old[i])
    end
    if byte(value, 8) ~= 0 then
      most, expires = limit_of(value) or attempts, expiry_of(value)
    end
    if expires and expires < now then
      bury_and_tell(id, due, "expired", count, error_at, error_json)
    elseif count >= most then
      bury_and_tell(id, due, "attempts", count, error_at, error_json)
    else
      -- As `give` does; that would be a call for each message.
      local n, m = 4 * given, 2 * given
      given = given + 1
      taken[n + 1], taken[n + 2], taken[n + 3], taken[n + 4] = id, due, value, count
      lease_pairs[m + 1], lease_pairs[m + 2] = until_text, id
      if not rest or most ~= rest_most then
        rest_most, rest = most, lease_rest(due, most, token)
      end
      leased_pairs[m + 1], leased_pairs[m + 2] = id, seq .. rest
    end
  end
end

-- What was found has the lowest ranks, so this is the first that stays.
local head = not paused and redis.call("ZRANGE", schedule, #ids, #ids, "WITHSCORES")[2]
local first_end = redis.call("ZRANGE", leases, 0, 0, "WITHSCORES")[2]
local plan = now + poll
plan = math.min(plan, tonumber(head or plan), tonumber(first_end or plan), #taken > 0 and lease_until or plan)
local known, full = last, limit == 0 or (#taken == limit * 4 and not room)
--- @include turn
local last_end = "^%d+ (%d+)"
--- @include silent

-- Write. The books come first: what stops these stops the claim before it has moved a message.
if not layout then
  redis.call("HSET", state, "v", 1)
end
turn_write()
variadic("HDEL", claims, silent)
note_claim(#taken > 0, lease_until)
bury_all()
-- First who holds a message, then until when, then out of `schedule`: one that is in two places is found, in none it is lost.
local many = given > 16
if many then
  widen()
end
variadic("HSET", leased, leased_pairs)
variadic("ZADD", leases, lease_pairs)
if many then
  narrow()
end
if #ids > 0 then
  redis.call("ZREMRANGEBYRANK", schedule, 0, #ids - 1)
end
variadic("HDEL", failures, forgotten)
trim(#buried_reply / 2)
return { now_text, until_text, whole(next_at), taken, buried_reply, missing, dropped, dropped_total }
