-- Takes due messages under a lease, those whose lease has ended among them, and says when to claim again.
-- KEYS: pending ready unack retry counts garbage messages notes claims state waiting
-- ARGV: notAfter consumer order token limit room lease attempts channel returns place events interval keep
-- Reply: {now, leaseUntil, nextAt, {id, due, payload, attempts so far, retries left, headers, …},
--   {id, reason, …} given up, how many were given up so far[, place]}
--
-- A claim made again, whose reply was lost, is answered in pieces, each with the place behind which the next one begins: empty
-- in the first call, and after the last.
--
-- `messages` and `notes` are the stems of one key a message. `room`: the caller has room for more than `limit`. `keep`: how long a
-- note is kept after the lease, ms.
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, claims, state, waiting = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
--- @include begin
local consumer, order, token, limit, room = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6] == "1"
local lease_until, limit_of_caller, channel, returns = now + tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10] == "1"
local place, events, interval, keep = ARGV[11], ARGV[12], tonumber(ARGV[13]), tonumber(ARGV[14])
--- @include values
--- @include places
--- @include notes
--- @include report
--- @include forget
--- @include give-up
--- @include next-due
--- @include drain
--- @include wake
local taken, given_up = {}, {}
local function give(id, note, payload, retries)
  local n = #taken
  taken[n + 1], taken[n + 2], taken[n + 3] = id, whole(due_at(note.place)), payload
  taken[n + 4], taken[n + 5], taken[n + 6] = note.count, retries, note.headers
end
local function tell_given(id, reason)
  given_up[#given_up + 1] = id
  given_up[#given_up + 1] = reason
end
--- @include id-order
--- @include ranks
--- @include last-claim
--- @include recover
--- @include candidates

-- Read and decide.
local first_lease, bytes, failed = first_place(lease_until), 0, #exhausted
local deadlines, kept, retries_left, left, gone, others, seen = {}, {}, {}, {}, {}, {}, {}
local drawn, reported = { ready = 0, retry = 0, pending = 0, unack = 0 }, { ready = 0, retry = 0, pending = 0, unack = 0 }
local ids, names = {}, {}
for i, candidate in ipairs(candidates) do
  ids[i] = candidate.id
end
local old, retries_of = read_notes(ids), #ids > 0 and redis.call("HMGET", counts, unpack(ids)) or {}
for i, id in ipairs(ids) do
  local name = messages .. id
  bytes = bytes + redis.call("STRLEN", name) + #(old[i] or "")
  if bytes > 1048576 and i > 1 then
    break
  end
  names[i] = name
end
local payloads = #names > 0 and redis.call("MGET", unpack(names)) or {}
for i = 1, #names do
  local candidate, id, from = candidates[i], ids[i], candidates[i].from
  drawn[from] = drawn[from] + 1
  if from == "pending" then
    left[#left + 1] = id
  end
  local is_new, payload = not candidate.stale and not seen[id], payloads[i]
  -- Left behind in a list by one that was cancelled, whose id a queue of another prefix has.
  if payload and not retries_of[i] and (from == "ready" or from == "retry") then
    payload, others[id] = nil, true
  end
  if is_new and payload then
    local note, retries = note_of(old[i]), tonumber(retries_of[i] or 0)
    -- Of ours, as its score says, and with no note from when it was scheduled: it has no limit of its own.
    if not old[i] and from == "pending" and candidate.place ~= math.floor(candidate.place) then
      note.flags = 4
    end
    -- A lease of ours that has ended is a delivery; where a program of the Go library took it back, it counted the retry.
    if from == "unack" or (from == "retry" and note.lease > 0) then
      note.count = note.count + 1
    end
    local left_now = retries - (from == "unack" and 1 or 0)
    if note.flags >= 4 then
      left_now = limit_of_caller - note.count - 1
    end
    if left_now < 0 then
      gone[#gone + 1] = id
      tell_given(id, "attempts")
      failed = failed + 1
    else
      if left_now ~= retries then
        retries_left[#retries_left + 1], retries_left[#retries_left + 2] = id, whole(left_now)
      end
      -- When leases that end together are given again, their messages keep this order.
      local lease_score = first_lease + #kept * step_at(first_lease)
      reported[from] = reported[from] + 1
      note.place, note.lease, note.token = candidate.place, lease_score, token
      deadlines[#deadlines + 1], deadlines[#deadlines + 2] = text_of(lease_score), id
      kept[#kept + 1] = { id, note }
      give(id, note, payload, left_now)
    end
  elseif is_new then
    gone[#gone + 1] = id
    -- What was cancelled has no count any more.
    if retries_of[i] then
      tell_given(id, "expired")
    end
  end
  -- What was left behind in a list says nothing of the message that is pending.
  seen[id] = seen[id] or not candidate.stale
end
for _, id in ipairs(exhausted) do
  gone[#gone + 1] = id
  tell_given(id, "attempts")
end

-- When to come again.
local due_left = 0
if not paused then
  due_left = redis.call("LLEN", ready) + redis.call("LLEN", retry) - drawn.ready - drawn.retry
    + redis.call("ZCOUNT", pending, "-inf", before_second) + redis.call("ZCOUNT", pending, in_second, passed) - drawn.pending
    + redis.call("ZCOUNT", unack, "-inf", passed) - drawn.unack - #exhausted
end
local running = redis.call("ZRANGEBYSCORE", unack, to_come, "+inf", "WITHSCORES", "LIMIT", 0, 1)[2]
local plan = now + math.min(interval, poll)
plan = math.min(plan, running and end_at(tonumber(running)) or plan, #taken > 0 and lease_until or plan)
plan = due_left > 0 and now or paused and plan or math.min(plan, next_due())
local known, full = last, limit == 0 or (#kept == limit and not room)
--- @include turn

local last_end = "^%d+ (%d+)"
--- @include silent
report(2, reported.pending)
report(3, #kept)
report(6, reported.unack)
report(7, failed)

-- Write. First who holds a message, then until when, then out of where it was: what is in two places is found.
drain(unack, counts, pending)
if not layout then
  redis.call("HSET", state, "v", 1)
end
turn_write()
variadic("HDEL", claims, silent)
note_claim(#taken > 0, lease_until)
for _, entry in ipairs(kept) do
  write_note(entry[1], entry[2], lease_until - now + keep)
end
variadic("ZADD", unack, deadlines)
variadic("HSET", counts, retries_left)
variadic("ZREM", pending, left)
if drawn.ready > 0 then
  redis.call("LTRIM", ready, 0, -(drawn.ready + 1))
end
if drawn.retry > 0 then
  redis.call("LTRIM", retry, 0, -(drawn.retry + 1))
end
forget(gone, others)
forget(redis.call("SRANDMEMBER", garbage, 100))
return { now_text, whole(lease_until), whole(next_at), taken, given_up, give_up(#given_up / 2) }
