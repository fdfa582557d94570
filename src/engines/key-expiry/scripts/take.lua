-- Takes messages out that are due: of those that it is asked for, the earliest. Whoever asks first has them.
-- KEYS: ids state probe claims
-- ARGV: notAfter limit cursor page probes consumer call again [id]
-- Reply: {now, whether there is a pause, standings, {message, …}, cursor, {id, …}, soonest, ids that were lost}
--
-- More KEYS: for each id its timer and its message. `standings` has a letter for each: t taken, d due but left, w not due yet,
-- g gone. `cursor`: where to read about `page` ids of those that wait, for a later call; empty to read none. `probes`: let the
-- probe expire, which everybody hears, and set it anew. `soonest`: when the next of those that are not due yet is; else empty.
--
-- `call` names this call in all its attempts; `again`: 1 when the reply of one was lost, else 0: then nothing is taken.
--
-- It goes by the due time in the message: a timer is but an alarm, and one that is missing is set again.
local ids, state, probe, claims = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local limit, cursor, page, probes = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5] == "1"
local consumer, call, again = ARGV[6], ARGV[7], ARGV[8] == "1"
local first_key, first_id = 4, 8
--- @include begin
--- @include values
--- @include timers
local max_bytes = 1048576
--- @include last-take
--- @include silent
local standings, due, gone, unset, soonest = {}, {}, {}, {}, math.huge
for i = 1, (#KEYS - first_key) / 2 do
  local at, stamp, place = times_of(KEYS[2 * i + first_key])
  if not at then
    standings[i] = "g"
    gone[#gone + 1] = ARGV[i + first_id]
  elseif at <= now then
    standings[i] = "d"
    due[#due + 1] = { i, at, stamp, place }
  else
    standings[i] = "w"
    soonest = math.min(soonest, at)
    if redis.call("EXISTS", KEYS[2 * i + first_key - 1]) == 0 then
      unset[#unset + 1] = { KEYS[2 * i + first_key - 1], at }
    end
  end
end
table.sort(due, function(a, b)
  for field = 2, 3 do
    if a[field] ~= b[field] then
      return a[field] < b[field]
    end
  end
  return a[4] < b[4]
end)
local messages, taken, emptied, bytes = {}, {}, {}, 0
for place = 1, paused and 0 or math.min(limit, #due) do
  local i = due[place][1]
  local timer, message = KEYS[2 * i + first_key - 1], KEYS[2 * i + first_key]
  bytes = bytes + redis.call("STRLEN", message)
  if bytes > max_bytes and place > 1 then
    break
  end
  messages[place], standings[i] = redis.call("GET", message), "t"
  taken[#taken + 1] = ARGV[i + first_id]
  emptied[#emptied + 1], emptied[#emptied + 2] = timer, message
end
local next_cursor, next_ids = "", {}
if cursor ~= "" then
  local read = redis.call("SSCAN", ids, cursor, "COUNT", page)
  next_cursor, next_ids = read[1], read[2]
end
-- A command that frees memory comes first, so that the rest runs at the memory limit too.
redis.call("SREM", ids, "", unpack(gone))
if #silent > 0 then
  redis.call("HDEL", claims, unpack(silent))
end
if #taken > 0 or again then
  note_take(taken)
end
if #taken > 0 then
  redis.call("SREM", ids, unpack(taken))
  redis.call("UNLINK", unpack(emptied))
end
for _, timer in ipairs(unset) do
  set_timer(timer[1], timer[2])
end
if probes then
  -- One whose time is over expires when it is touched; that may be long before Redis finds it.
  redis.call("EXISTS", probe)
  redis.call("SET", probe, "", "PX", 1)
end
return { now_text, paused and 1 or 0, table.concat(standings), messages, next_cursor, next_ids,
  soonest < math.huge and whole(soonest) or "", lost }
