-- Deletes messages that wait and were scheduled no later than `sequence`, after a place. Looks at 250 at most, and deletes as
-- many as their bodies allow, from the first.
-- KEYS: schedule messages failures state gone
-- ARGV: notAfter operation step since sequence most [after afterSequence]
-- Reply: {now, answer, overwritten}
--
-- `answer` is how many were deleted, and, when there are more, the place of the last that was looked at: due time, sequence
-- number. Younger messages are passed over, and the next call goes on behind them.
local schedule, messages, failures, state, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--- @include begin
--- @include drain
drain(schedule, messages)
--- @include once
--- @include values
--- @include bodies
--- @include rank
--- @include remember

local newest, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local function order_of(text)
  return (unpack_bytes(">I7", text))
end
local first = 0
if ARGV[7] then
  local after = tonumber(ARGV[8])
  first = rank_after(schedule, tonumber(ARGV[7]), function(member)
    return order_of(member) <= after
  end)
end
local found, more = entries_from(schedule, first, redis.call("ZCARD", schedule), 250)
local ids, at, last = {}, {}, #found - 1
for i = 1, #found, 2 do
  if order_of(found[i]) <= newest then
    if #ids == most then
      more = false
      break
    end
    ids[#ids + 1], at[#at + 1] = sub(found[i], 8), i
  end
end
local values, members, deleted = read_bodies(ids), {}, {}
if #values < #at then
  last, more = at[#values], true
end
for i, value in ipairs(values) do
  local member = found[at[i]]
  members[i] = member
  -- An entry without its message goes, too, but is no message; the id may have been scheduled anew.
  if value and sub(value, 1, 7) == sub(member, 1, 7) then
    deleted[#deleted + 1] = ids[i]
  end
end

local any_failed = redis.call("HLEN", failures) > 0
local place = more and string.format(" %.0f %.0f", found[last + 1], order_of(found[last])) or ""
local reply = answer(#deleted .. place, #deleted)
remember(deleted)
variadic("ZREM", schedule, members)
variadic("HDEL", messages, deleted)
if any_failed then
  variadic("HDEL", failures, deleted)
end
return reply
