-- Looks whether promise 13 holds for each id, in all groups, all of it in one moment; mends it when asked to. Does as many as their
-- bodies allow, from the first.
-- KEYS: schedule messages moved lost stream groups queue
-- ARGV: notAfter groups [name channel] repair [id where found]
-- Reply: {now, how many were looked at, {place, kind, …}}
--
-- KEYS go on with those of each group: snippets/groups.lua. `repair`: 1 or 0; nothing is written with 0. `where` an index entry
-- was found, and what it says besides the id: s (schedule) or l, a (leases, again) and the name of the group, with the first 7
-- bytes of the member; x (stream) with the id of the entry; else empty. `place`: of the id, from 1.
local schedule, messages, moved, lost, stream, groups = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local state, own_keys = KEYS[7], 7
--- @include begin
--- @include groups
--- @include values
--- @include bodies
--- @include copies
--- @include drain

local repair, found = ARGV[first_arg] == "1", {}
local asked, wheres, founds = {}, {}, {}
for i = first_arg + 1, #ARGV, 3 do
  local n = #asked + 1
  asked[n], wheres[n], founds[n] = ARGV[i], ARGV[i + 1], ARGV[i + 2]
end
if repair then
  drain(schedule, moved, schedule)
end
local function mend(...)
  if repair then
    redis.call(...)
  end
end
local read_up_to = stream_groups()
local function is_pending(name, entry)
  return #redis.call("XPENDING", stream, name, entry, entry, 1) > 0
end
local function drop_entry(entry)
  for name in pairs(read_up_to) do
    mend("XACK", stream, name, entry)
  end
  mend("XDEL", stream, entry)
end
local function drop_copy(one, id, copy)
  if copy then
    mend("ZREM", one.leases, copy.order .. id)
    mend("ZREM", one.again, copy.order .. id)
  end
  mend("ZREM", one.dead, id)
  mend("HDEL", one.copies, id)
  mend("HDEL", one.failures, id)
end
local values = read_bodies(asked)
for i, value in ipairs(values) do
  local id, where = asked[i], wheres[i]
  local function tell(kind)
    found[#found + 1], found[#found + 2] = i, kind
  end
--- @include mismatch
end
return { now_text, #values, found }
