-- Counts the messages in each state as the group has them. Of those that it has not read yet, it counts 1,000 after a place.
-- KEYS: schedule stream queue leases again copies dead
-- ARGV: notAfter group after
-- Reply: {now, scheduled, due, leased, dead, paused, unread, place}
--
-- `after`: the place in the first call is empty. `place`: where the next call is to go on, empty when there are no more unread.
local schedule, stream, state, leases = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local again, copies, dead, group, after = KEYS[5], KEYS[6], KEYS[7], ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include copies

local due = redis.call("ZCOUNT", schedule, "-inf", now) + redis.call("ZCOUNT", again, "-inf", now)
local scheduled = redis.call("ZCARD", schedule) + redis.call("ZCARD", again) - due
-- A lease that has ended counts as reclaimed: its message is due, or dead when that was its last attempt. Beyond 1,000, which end
-- together only when consumers died, the last attempts are not looked for.
local ended, lost, ids = redis.call("ZCOUNT", leases, "-inf", now), 0, {}
if ended > 0 then
  for i, member in ipairs(redis.call("ZRANGEBYSCORE", leases, "-inf", now, "LIMIT", 0, 1000)) do
    ids[i] = sub(member, 8)
  end
  for _, value in ipairs(read_all(copies, ids)) do
    local copy = value and copy_of(value)
    lost = lost + (copy and copy.count + 1 >= copy.limit and 1 or 0)
  end
end
due = due + ended - lost
local delivered, unread, place = stream_groups()[group], 0, ""
if delivered then
  local ids = {}
  local entries = redis.call("XRANGE", stream, "(" .. (after ~= "" and after or entry_id(delivered)), "+", "COUNT", 1000)
  for i, entry in ipairs(entries) do
    ids[i] = sub(entry[2][2], 8)
  end
  -- One of which the group has a copy was rescheduled, and is counted there.
  for _, copy in ipairs(read_all(copies, ids)) do
    unread = unread + (copy and 0 or 1)
  end
  place = #entries == 1000 and entries[1000][1] or ""
end
return { now_text, scheduled, due, redis.call("ZCARD", leases) - ended, redis.call("ZCARD", dead) + lost,
  paused and 1 or 0, unread, place }
