-- Stores messages; one whose id exists is kept or replaced, as it says. Does as many as it may read, from the first.
-- KEYS: schedule messages leases leased failures dead state waiting gone
-- ARGV: notAfter channel count rememberFor since batch confirm
-- Reply: {now, outcomes, dueAts}
--
-- `batch` has for each message, ids distinct: length of id u16, id, mode u8 (1: `when` is a point in time, else a delay;
-- 2: replace; 4: it expires), length of `when` u8, `when` in decimals, length of body u32, body (all that follows seq). One
-- argument, since a client writes each binary argument by itself: 1,000 of them cost it more than the server's work. `when` is text
-- because ZADD takes text: to write a number out took as long as the ZADD.
-- `outcomes` has a letter for each: s scheduled, d duplicate, e duplicate whose body is the very same, g gone but remembered,
-- r replaced, l leased. `dueAts` has an f64 for each: when it is due as it is stored, or when it went.
-- `since`: when an attempt of this call was lost, the server's time at which it was first made, at the latest; else empty.
-- `rememberFor`: ms; 0 leaves what the queue was told last.
-- `confirm`: "confirm" when the caller waits for replicas or the disk; else empty. Since Redis 7.2 such a wait answers only for
-- what was written on its own connection. What is there already may have been written on another, so then something is written
-- here, too: what comes first in the stream to replicas and disk has arrived when that has.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state, waiting, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local channel, count, ask_for, since, batch = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local confirm = ARGV[7] == "confirm"
--- @include begin
--- @include values
--- @include format
--- @include body
--- @include bodies
--- @include drain
--- @include forget
--- @include failures
--- @include standing
--- @include due
--- @include from-lost
--- @include wake
--- @include known

local ids, modes, whens, bodies, dues, due_texts = {}, {}, {}, {}, {}, {}
local position = 1
for i = 1, count do
  ids[i], modes[i], whens[i], bodies[i], position = unpack_bytes(">I2c0BBc0I4c0", batch, position)
end

local function kind_of(mode)
  return mode % 2 == 1 and "a" or "d"
end

-- Read. A message that no index has is an orphan; it is stored anew.
local outcomes, fresh = {}, {}
local old_members, old_ids = {}, {}
local earliest, largest = math.huge, biggest
local last_due, last_text
local values = read_bodies(ids)
local went = went_of(ids)
for i = 1, #values do
  local id, mode, value, when, outcome = ids[i], modes[i], values[i], tonumber(whens[i]), "s"
  if value then
    local standing, due, _, lease = standing_of(id, value)
    -- The due time as it is stored, whether its lease has ended or not.
    local due_stored = due
    if lease then
      _, due_stored = lease_of(lease)
    end
    if standing and mode % 4 < 2 then
      due = due_stored
      outcome = sub(value, 8) == body_due(bodies[i], due) and "e" or "d"
    elseif standing and since and sub(value, 8) == body_due(bodies[i], due_stored)
      and is_from_lost(due_stored, kind_of(mode), when) then
      due, outcome = due_stored, "e"
    elseif standing == "leased" then
      outcome = "l"
    else
      outcome = standing and "r" or "s"
      old_members[#old_members + 1] = sub(value, 1, 7) .. id
      old_ids[#old_ids + 1] = id
    end
    if outcome ~= "s" and outcome ~= "r" then
      dues[i] = due
    end
  end
  if outcome == "s" and went[i] then
    outcome, dues[i] = "g", went[i]
  end
  outcomes[i] = outcome
  if outcome == "s" or outcome == "r" then
    local due = due_of(kind_of(mode), when)
    if due ~= last_due then
      last_due, last_text = due, due == when and whens[i] or whole(due)
    end
    dues[i], due_texts[i] = due, last_text
    if mode > 3 then
      bodies[i] = body_due(bodies[i], due)
    end
    fresh[#fresh + 1] = i
    if due < earliest then
      earliest = due
    end
    if 7 + #bodies[i] > largest then
      largest = 7 + #bodies[i]
    end
  end
  if has_read_enough() then
    break
  end
end

local reply = { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #outcomes), unpack(dues, 1, #outcomes)) }
-- Also when there is nothing to store: the messages that are there are to be remembered, too.
local remember_changed = ask_for > 0 and ask_for ~= remember_for
if #fresh == 0 then
  drain(schedule)
  if remember_changed then
    redis.call("HSET", state, "v", 1, "rememberFor", ARGV[4])
  end
  if confirm then
    redis.call("HSET", state, "v", 1, "confirmedAt", string.format("%.0f", now))
  end
  return reply
end
notify(earliest)

-- Write. The first write is one that Redis refuses at its memory limit, so that nothing is stored by halves; it changes nothing,
-- and shows that the ZADD below can be done.
redis.call("ZADD", schedule, "XX", 0, "")
if #old_ids > 0 then
  drain_indexes()
end
local seq = redis.call("HINCRBY", state, "seq", #fresh) - #fresh
if seq + #fresh > 9007199254740991 then
  return redis.error_reply("ERR the sequence numbers of this queue are used up")
end
local places, stored = {}, {}
for k, i in ipairs(fresh) do
  local number = pack(">I7", seq + k)
  places[2 * k - 1], places[2 * k] = due_texts[i], number .. ids[i]
  stored[2 * k - 1], stored[2 * k] = ids[i], number .. bodies[i]
end
variadic("HSET", messages, stored)
forget(old_ids, old_members)
variadic("ZADD", schedule, places)
if largest > biggest or not layout then
  redis.call("HSET", state, "v", 1, "biggest", largest)
end
if remember_changed then
  redis.call("HSET", state, "rememberFor", ARGV[4])
end
wake_write()
return reply
