-- Sets another due time for messages that wait.
-- KEYS: schedule ready messages standing leases dead state waiting
-- ARGV: notAfter channel [id kind when]
-- Reply: {now, outcomes}
--
-- `kind` and `when` as in snippets/due.lua. `outcomes` has a letter for each: r rescheduled, l leased, d dead, a absent.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state, waiting = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local channel = ARGV[2]
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include bodies
--- @include records
--- @include reclaim
--- @include places
--- @include due
--- @include wake

local ids = {}
for i = 3, #ARGV, 3 do
  ids[#ids + 1] = ARGV[i]
end
drain(leases, standing, schedule)
local values = read_bodies(ids)
reclaim_these(ids)
local old = read_all(standing, ids)
local outcomes, members, places, earliest = {}, {}, {}, math.huge
for i, value in ipairs(values) do
  local record = value and record_of(old[i], sub(value, 1, 7))
  outcomes[i] = not record and "a" or ({ w = "r", l = "l", d = "d" })[record.kind]
  if outcomes[i] == "r" then
    local due, member = due_of(ARGV[3 * i + 1], ARGV[3 * i + 2]), record.seq .. ids[i]
    earliest = math.min(earliest, due)
    members[#members + 1] = member
    places[#places + 1], places[#places + 2] = whole(due), member
  end
end
if #members > 0 then
  notify(earliest)
end
wake_write()
displace(members)
variadic("ZADD", schedule, places)
return { now_text, table.concat(outcomes) }
