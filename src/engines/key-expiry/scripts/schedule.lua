-- Stores messages, and beside each a key that expires when it is due. One that is there stays or is replaced.
-- KEYS: ids state
-- ARGV: notAfter told attempt back [id mode kind when member]
-- Reply: {now, outcomes, dueAts}
--
-- More KEYS: for each message its timer and its place. `mode`: k keeps one that is there, r replaces it. `kind` and `when` as in
-- snippets/due.lua, or "k": due at `when`, in the past too. `attempt` as in snippets/repeated.lua. `back`: they were taken
-- out and come back, so they are taken in at the memory limit too. `outcomes` has a letter for each: s scheduled, d duplicate,
-- r replaced, u unknown: a lost attempt may have stored it, and it may have been taken since. `dueAts` has an f64 for each.
local ids, state = KEYS[1], KEYS[2]
local told, attempt, back = ARGV[2], ARGV[3], ARGV[4] == "1"
--- @include begin
--- @include repeated
--- @include values
--- @include due
--- @include timers
-- Whether a message is the one that was sent, but for its times.
local function is_same(message, member)
  return redis.call("STRLEN", message) == head + #member and redis.call("GETRANGE", message, head, -1) == member
end

local outcomes, dues, fresh, stored, at_once = {}, {}, {}, {}, {}
for i = 1, (#KEYS - 2) / 2 do
  local first = 5 * i
  local id, replaces, kind, when = ARGV[first], ARGV[first + 1] == "r", ARGV[first + 2], tonumber(ARGV[first + 3])
  local message, member = KEYS[2 * i + 2], ARGV[first + 4]
  local there = times_of(message)
  local due = kind == "k" and when or due_of(kind, when)
  if there and (since and is_same(message, member) or not replaces) then
    local ours = since and is_same(message, member)
    outcomes[i], due = ours and (replaces and "r" or "s") or "d", there
  elseif not there and since and (kind == "d" and since + when or when) <= now then
    outcomes[i] = "u"
  else
    outcomes[i] = there and "r" or "s"
    fresh[#fresh + 1], stored[#stored + 1] = i, id
    if due <= now then
      at_once[#at_once + 1] = id
    end
  end
  dues[i] = due
end
if #fresh > 0 then
  tell_due(told, at_once)
  if back then
    redis.call("SREM", ids, "")
  end
  note_repeated()
  redis.call("SADD", ids, unpack(stored))
end
for _, i in ipairs(fresh) do
  local timer, message, due = KEYS[2 * i + 1], KEYS[2 * i + 2], dues[i]
  redis.call("SET", message, pack(">ddH", due, now_us, i) .. ARGV[5 * i + 4])
  if due > now then
    set_timer(timer, due)
  elseif outcomes[i] == "r" then
    redis.call("UNLINK", timer)
  end
end
return { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #dues), unpack(dues)) }
