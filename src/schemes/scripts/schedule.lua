-- Puts whole messages into a zset by due time, and wakes a consumer for the earliest. One that is there stays as it is.
-- KEYS: schedule state waiting parked
-- ARGV: notAfter channel attempt back [kind when member]
-- Reply: {now, outcomes, dueAts}
--
-- `kind` and `when` as in snippets/due.lua, or "k": due at `when`, in the past too. `attempt` as in snippets/repeated.lua.
-- `outcomes` has a letter for each: s scheduled, d duplicate, u unknown: a lost attempt may have stored it, and it may have
-- been taken since. `dueAts` has an f64 for each. `back`: they were taken out and come back, so they are taken in at the
-- memory limit too. The field `biggest` of the state bounds the bytes of what waits in one member: claims read by number, and
-- a zset does not tell how large a member is. `parked`: where messages wait in a pause.
local schedule, state, waiting, parked = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, attempt, back = ARGV[2], ARGV[3], ARGV[4] == "1"
--- @include begin
--- @include repeated
--- @include values
--- @include due
--- @include drain
--- @include wake
if paused then
  schedule = parked
end
local members = {}
for i = 7, #ARGV, 3 do
  members[#members + 1] = ARGV[i]
end
local there = redis.call("ZMSCORE", schedule, unpack(members))
local outcomes, dues, fresh, earliest = {}, {}, {}, math.huge
local largest = redis.call("EXISTS", schedule) == 1 and biggest or 0
for i, member in ipairs(members) do
  local kind, when = ARGV[3 * i + 2], tonumber(ARGV[3 * i + 3])
  local due = kind == "k" and when or due_of(kind, when)
  if there[i] then
    outcomes[i], due = since and "s" or "d", tonumber(there[i])
  elseif since and (kind == "d" and since + when or when) <= now then
    outcomes[i] = "u"
  else
    outcomes[i] = "s"
    fresh[#fresh + 1], fresh[#fresh + 2] = whole(due), member
    earliest = math.min(earliest, due)
    largest = math.max(largest, #member)
  end
  dues[i] = due
end
if #fresh > 0 then
  if not paused then
    notify(earliest)
  end
  if back then
    drain(schedule)
  end
  note_repeated()
  redis.call("ZADD", schedule, unpack(fresh))
  wake_write()
  if largest ~= biggest then
    redis.call("HSET", state, "biggest", largest)
  end
end
return { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #dues), unpack(dues)) }
