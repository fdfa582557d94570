-- Sets another due time, in every group that waits for the message. Does as many as their bodies allow, from the first.
-- KEYS: schedule messages moved lost stream groups queue
-- ARGV: notAfter groups [name channel] [id kind when]
-- Reply: {now, outcomes}
--
-- KEYS go on with those of each group: snippets/groups.lua. `kind` is d (a delay, ms) or a (a point in time). `outcomes` has a
-- letter for each: r rescheduled, l leased (by a consumer of any group), d dead in every group that has it, a absent.
-- Leases that have ended are reclaimed on the way.
local schedule, messages, moved, lost, stream, groups = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local state, own_keys = KEYS[7], 7
--- @include begin
--- @include groups
--- @include values
--- @include bodies
--- @include copies
--- @include drain
--- @include due
--- @include parts

local asked, outcomes, places, earliest = {}, {}, {}, math.huge
for i = first_arg, #ARGV, 3 do
  asked[#asked + 1] = ARGV[i]
end
for _, one in ipairs(all_groups) do
  one.places, one.values, one.left, one.buried, one.records, one.reclaimed = {}, {}, {}, {}, {}, {}
end
-- Its lease has ended: one attempt used.
local function reclaim(one, id, copy, owner)
  copy.count, copy.token = copy.count + 1, ""
  one.left[#one.left + 1] = copy.order .. id
  one.reclaimed[#one.reclaimed + 1] = { owner = owner, copy = copy }
end
for i, value in ipairs(read_bodies(asked)) do
  local id, at = asked[i], first_arg + 3 * (i - 1)
  local standing, parts, entry, _
  if value then
    standing, _, _, parts, entry = standing_of(id, value)
  end
  outcomes[i] = standing == "waiting" and "r" or standing == "leased" and "l" or standing == "dead" and "d" or "a"
  for _, part in ipairs(parts or {}) do
    local copy, one = part.copy, part.group
    if part.standing == "dead" and copy.token ~= "" then
      reclaim(one, id, copy, dead_owner)
      local error_at, _, error_json = failure_of(redis.call("HGET", one.failures, id))
      one.values[#one.values + 1], one.values[#one.values + 2] = id, copy_value(copy)
      one.buried[#one.buried + 1], one.buried[#one.buried + 2] = whole(part.deadline), id
      one.records[#one.records + 1], one.records[#one.records + 2] = id, failure_value(error_at, "attempts", error_json)
    end
  end
  if standing == "waiting" then
    local due = due_of(ARGV[at + 1], ARGV[at + 2])
    earliest = math.min(earliest, due)
    if #parts == 0 then
      places[#places + 1], places[#places + 2] = whole(due), sub(value, 1, 7) .. id
    end
    for _, part in ipairs(parts) do
      if part.standing == "waiting" then
        -- A group that has not read the entry gets a copy already; reading it then delivers nothing.
        local copy, one = part.copy or { order = sub(value, 1, 7), seq = sub(value, 1, 7), count = 0, limit = 0,
          lasting = false, ms = entry.ms, n = entry.n, token = "" }, part.group
        if copy.token ~= "" then
          reclaim(one, id, copy, waiting_owner)
        end
        copy.due = due
        one.places[#one.places + 1], one.places[#one.places + 2] = whole(due), copy.order .. id
        one.values[#one.values + 1], one.values[#one.values + 2] = id, copy_value(copy)
      end
    end
  end
end

local wakes = {}
for _, one in ipairs(earliest < math.huge and all_groups or {}) do
  local state, waiting, channel, fields = one.state, one.waiting, one.channel, waking_of(one.state)
--- @include wake
  notify(earliest)
  wakes[#wakes + 1] = wake_write
end

drain(schedule, nil, schedule)
for _, wake_write in ipairs(wakes) do
  wake_write()
end
variadic("ZADD", schedule, places)
for _, one in ipairs(all_groups) do
  variadic("HSET", one.failures, one.records)
  variadic("HSET", one.copies, one.values)
  for _, ended in ipairs(one.reclaimed) do
    local copy = ended.copy
    redis.call("XCLAIM", stream, one.name, ended.owner, 0, entry_id(copy), "RETRYCOUNT", copy.count, "JUSTID")
  end
  variadic("ZADD", one.dead, one.buried)
  variadic("ZADD", one.again, one.places)
  variadic("ZREM", one.leases, one.left)
end
return { now_text, table.concat(outcomes) }
