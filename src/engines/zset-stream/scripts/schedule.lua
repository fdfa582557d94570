-- Stores messages for all groups; one whose id exists is kept or replaced, as it says. Does as many as it may read, from the first.
-- KEYS: schedule messages moved lost stream groups queue gone
-- ARGV: notAfter groups [name channel] rememberFor since [id mode when body]
-- Reply: {now, outcomes, dueAts}
--
-- KEYS go on with those of each group: snippets/groups.lua. `mode`: 1 where `when` is a point in time, else a delay; 2 more to
-- replace. `body`: all that follows seq. `outcomes` has a letter for each: s scheduled, d duplicate, e duplicate whose body is the
-- very same, g gone but remembered, r replaced, l leased. `dueAts` has an f64 for each: when it is due as it is stored, or when
-- it went. `since`: when an attempt of this call was lost, the server's time at which it was first made, at the latest; else
-- empty. `rememberFor`: ms; 0 leaves what the queue was told last.
local schedule, messages, moved, lost, stream, groups = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local state, gone, own_keys = KEYS[7], KEYS[8], 8
--- @include begin
--- @include groups
--- @include values
--- @include body
--- @include bodies
--- @include copies
--- @include known
--- @include due
--- @include parts
local ask_for, since = tonumber(ARGV[first_arg]), tonumber(ARGV[first_arg + 1])
--- @include from-lost

local ids, modes, dues, bodies = {}, {}, {}, {}
for i = first_arg + 2, #ARGV, 4 do
  local n = #ids + 1
  ids[n], modes[n], dues[n], bodies[n] = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3]
end
local function kind_of(mode)
  return mode % 2 == 1 and "a" or "d"
end

-- Read. A message that no index has is an orphan; it is stored anew.
local outcomes, fresh, old_ids, old_members = {}, {}, {}, {}
local earliest, largest, cost = math.huge, biggest, 0
local values = read_bodies(ids)
local went = went_of(ids)
for i, value in ipairs(values) do
  local id, mode, outcome = ids[i], modes[i], "s"
  if value then
    -- Each costs look-ups in every group, and to replace it some writes: 250 that were due took 15 ms on a busy machine.
    cost = cost + (mode < 2 and 1 or 3)
    if cost > 240 then
      break
    end
    local standing, due = standing_of(id, value)
    if standing and mode < 2 then
      outcome = sub(value, 8) == body_due(bodies[i], due) and "e" or "d"
    elseif standing and since and sub(value, 8) == body_due(bodies[i], due)
      and is_from_lost(due, kind_of(mode), dues[i]) then
      outcome = "e"
    elseif standing == "leased" then
      outcome = "l"
    else
      outcome = standing and "r" or "s"
      old_ids[#old_ids + 1], old_members[#old_members + 1] = id, sub(value, 1, 7) .. id
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
    dues[i] = due_of(kind_of(mode), dues[i])
    bodies[i] = body_due(bodies[i], dues[i])
    fresh[#fresh + 1] = i
    earliest = math.min(earliest, dues[i])
    largest = math.max(largest, 7 + #bodies[i])
  end
end

local wakes = {}
for _, one in ipairs(#fresh > 0 and all_groups or {}) do
  local state, waiting, channel, fields = one.state, one.waiting, one.channel, waking_of(one.state)
--- @include wake
  notify(earliest)
  wakes[#wakes + 1] = wake_write
end

-- Write. The first write is one that Redis refuses at its memory limit, so that nothing is stored by halves; it changes nothing.
redis.call("ZADD", schedule, "XX", 0, "")
if ask_for > 0 and ask_for ~= remember_for then
  redis.call("HSET", state, "v", 1, "rememberFor", ARGV[first_arg])
end
if #fresh > 0 then
  withdraw(old_ids, old_members)
  local seq = redis.call("HINCRBY", state, "seq", #fresh) - #fresh
  local places, stored = {}, {}
  for k, i in ipairs(fresh) do
    local number = pack(">I7", seq + k)
    places[2 * k - 1], places[2 * k] = whole(dues[i]), number .. ids[i]
    stored[2 * k - 1], stored[2 * k] = ids[i], number .. bodies[i]
  end
  variadic("HSET", messages, stored)
  variadic("ZADD", schedule, places)
  if largest > biggest or not layout then
    redis.call("HSET", state, "v", 1, "biggest", largest)
  end
  for _, wake_write in ipairs(wakes) do
    wake_write()
  end
end
return { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #outcomes), unpack(dues, 1, #outcomes)) }
