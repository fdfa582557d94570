-- Walks one key, and looks whether each entry has its message and each message its place; mends it when asked to.
-- KEYS: schedule ready messages standing leases dead hands state waiting
-- ARGV: notAfter channel which cursor repair
-- Reply: {now, cursor for the next call or "0", how many were looked at, {id, kind, …}, {id, …}}
--
-- `which`: the name of the key. `repair`: 1 or 0; nothing is written with 0. The last list has messages that are nowhere, though
-- one may be in the hand of a consumer.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, hands, state, waiting = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local channel, which, cursor, repair = ARGV[2], ARGV[3], ARGV[4], ARGV[5] == "1"
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include records
--- @include places
--- @include wake
-- Bodies are read along with their ids.
local most = math.max(1, math.min(250, math.floor(budget / math.max(biggest, 1))))
local page
if which == "ready" then
  page = { "0", redis.call("LRANGE", ready, 0, -1) }
else
  local hash = which == "messages" or which == "standing"
  local key = ({ schedule = schedule, messages = messages, standing = standing, leases = leases, dead = dead })[which]
  page = redis.call(hash and "HSCAN" or "ZSCAN", key, cursor, "COUNT", most)
end

local problems, unsure, mends, woken = {}, {}, {}, false
local function mend(command, key, ...)
  mends[#mends + 1] = { command, key, ... }
end
-- Gives what is to be called to mend it.
local function tell(id, kind, ...)
  problems[#problems + 1], problems[#problems + 2] = id, kind
  mend(...)
end

local function look_at_message(id, value)
  local seq = sub(value, 1, 7)
  local record = record_of(redis.call("HGET", standing, id), seq)
  local member = seq .. id
  local in_zset, in_list = redis.call("ZSCORE", schedule, member), entry_of(member)
  local lease, burial = redis.call("ZSCORE", leases, id), redis.call("ZSCORE", dead, id)
  if in_zset and (in_list or record.kind ~= "w") then
    tell(id, "waits-elsewhere", "ZREM", schedule, member)
    in_zset = in_list and in_zset
  end
  if in_list and record.kind ~= "w" then
    tell(id, "waits-elsewhere", "LREM", ready, 1, in_list)
  end
  if lease and record.kind ~= "l" then
    tell(id, "lease-without-token", "ZREM", leases, id)
  end
  if burial and record.kind ~= "d" then
    tell(id, "dead-without-reason", "ZREM", dead, id)
  end
  local lost = record.kind == "w" and not in_zset and not in_list
  if lost and redis.call("EXISTS", hands) == 1 then
    unsure[#unsure + 1] = id
  elseif lost or (record.kind == "l" and not lease) or (record.kind == "d" and not burial) then
    tell(id, "message-without-place", "ZADD", schedule, whole(now), member)
    record.kind, record.text, woken = "w", "", true
    mend("HSET", standing, id, value_of(record))
  end
end

local function look_at_entry(id, seq, mending)
  local value = redis.call("HGET", messages, id)
  if not value or (seq and sub(value, 1, 7) ~= seq) then
    tell(id, which .. "-without-message", unpack(mending))
  end
end

local step = which == "ready" and 1 or 2
for i = 1, #page[2], step do
  local entry = page[2][i]
  if which == "messages" then
    look_at_message(entry, page[2][i + 1])
  elseif which == "schedule" then
    look_at_entry(sub(entry, 8), sub(entry, 1, 7), { "ZREM", schedule, entry })
  elseif which == "ready" then
    look_at_entry(sub(entry, 16), sub(entry, 9, 15), { "LREM", ready, 1, entry })
  else
    local key = ({ standing = standing, leases = leases, dead = dead })[which]
    look_at_entry(entry, nil, { which == "standing" and "HDEL" or "ZREM", key, entry })
  end
end

if repair and #mends > 0 then
  if woken then
    notify(now)
  end
  drain(schedule, standing, schedule)
  drain(leases, messages, dead)
  wake_write()
  for _, command in ipairs(mends) do
    redis.call(unpack(command))
  end
end
return { now_text, page[1], #page[2] / step, problems, unsure }
