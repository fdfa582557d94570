-- Finds the places of messages that wait or are dead, in order, behind a place.
-- KEYS: schedule ready dead state
-- ARGV: notAfter which from to limit after tail
-- Reply: {now, {time, tail, id, …}, 1 if there are more or 0}
--
-- `which`: scheduled, due or dead. A place is the due time, or the time of burial, and what orders equal ones: `tail`, the
-- sequence number (7 bytes) or the id. `after` is empty for the first page.
local schedule, ready, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local which, limit, after, tail = ARGV[2], tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
--- @include begin
--- @include values
--- @include id-order
--- @include rank
local from, to = tonumber(ARGV[3]), tonumber(ARGV[4])
if which == "due" then
  to = math.min(to, now)
elseif which == "scheduled" then
  from = math.max(from, now + 1)
end

local function tail_of(member)
  return which == "dead" and member or sub(member, 1, 7)
end
local function is_behind(time, member)
  return not after or time > after or (time == after and id_precedes(tail, tail_of(member)))
end

local key = which == "dead" and dead or schedule
local start = math.max(from, after or 0)
local first = rank_after(key, start, function(member)
  return not is_behind(start, member)
end)
local found = {}
local page = redis.call("ZRANGE", key, first, first + limit, "WITHSCORES")
for i = 1, #page, 2 do
  local time = tonumber(page[i + 1])
  if time <= to then
    found[#found + 1] = { time = time, member = page[i] }
  end
end
if which == "due" then
  for _, entry in ipairs(redis.call("LRANGE", ready, 0, -1)) do
    local time, member = (unpack_bytes(">d", entry)), sub(entry, 9)
    if time >= from and time <= to and is_behind(time, member) then
      found[#found + 1] = { time = time, member = member }
    end
  end
  table.sort(found, function(a, b)
    return a.time < b.time or (a.time == b.time and id_precedes(a.member, b.member))
  end)
end
local rows = {}
for i = 1, math.min(limit, #found) do
  local member = found[i].member
  rows[3 * i - 2], rows[3 * i - 1] = whole(found[i].time), tail_of(member)
  rows[3 * i] = which == "dead" and member or sub(member, 8)
end
return { now_text, rows, #found > limit and 1 or 0 }
