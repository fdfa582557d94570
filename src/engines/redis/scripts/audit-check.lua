-- Looks whether promise 13 holds for each id, all of it in one moment; mends it when asked to. Does as many as their bodies
-- allow, from the first.
-- KEYS: schedule messages leases leased failures dead state waiting
-- ARGV: notAfter channel repair [id seq]
-- Reply: {now, how many were looked at, {place, kind, …}}
--
-- `seq`: of an entry in `schedule` that is to be looked at; else empty. Ids are distinct. `repair`: 1 or 0; nothing is written
-- with 0. `place`: of the id, from 1.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state, waiting = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local channel, repair = ARGV[2], ARGV[3] == "1"
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include drain
--- @include wake

local ids, given, own = {}, {}, {}
for i = 4, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
end
local values = read_bodies(ids)
local failed = read_failures(ids)
for i, id in ipairs(ids) do
  local seq = ARGV[2 * i + 3]
  -- No member of `schedule` is empty.
  given[i] = seq ~= "" and seq .. id or ""
  own[i] = values[i] and sub(values[i], 1, 7) .. id or ""
end
local given_at, own_at = redis.call("ZMSCORE", schedule, unpack(given)), redis.call("ZMSCORE", schedule, unpack(own))
local ends, tokens = redis.call("ZMSCORE", leases, unpack(ids)), read_all(leased, ids)
local buried_at = redis.call("ZMSCORE", dead, unpack(ids))

local found = {}
local unscheduled, unleased, unburied, forgotten = {}, {}, {}, {}
local places, records, fences = {}, {}, {}
local function tell(i, kind)
  found[#found + 1] = i
  found[#found + 1] = kind
end
local function add(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end

--- @include mismatch

if repair then
  if #places > 0 then
    notify(now)
  end
  drain(schedule, leased, schedule)
  wake_write()
  variadic("HSET", leased, fences)
  variadic("HSET", failures, records)
  variadic("ZADD", schedule, places)
  variadic("ZREM", schedule, unscheduled)
  variadic("ZREM", leases, unleased)
  variadic("HDEL", leased, unleased)
  variadic("ZREM", dead, unburied)
  variadic("HDEL", failures, forgotten)
end
return { now_text, #ids, found }
