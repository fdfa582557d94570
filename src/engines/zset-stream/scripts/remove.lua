-- Gives dead letters of the group up for good: the ones named, else the ones buried first. As many as their bodies allow.
-- KEYS: messages moved stream queue gone leases copies dead failures
-- ARGV: notAfter group until most [id]
-- Reply: {now, outcomes}
--
-- `until` and `most` say which when no ids are named. `outcomes` has a letter for each: r removed, n no dead letter.
local messages, moved, stream, state, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local leases, copies, dead, failures, group = KEYS[6], KEYS[7], KEYS[8], KEYS[9], ARGV[2]
--- @include begin
--- @include values
--- @include bodies
--- @include copies
--- @include drain
--- @include remember
--- @include chosen
--- @include finish

local ids, own = chosen_of(5, ARGV[3], ARGV[4])
for i = #ids, fitting(ids) + 1, -1 do
  ids[i] = nil
end
local outcomes, left, done, ended = {}, {}, {}, {}
for i, id in ipairs(ids) do
  outcomes[i] = own[i] and "r" or "n"
  if own[i] then
    left[#left + 1], done[#done + 1] = id, own[i]
    ended[#ended + 1] = own[i].ended
  end
end
drain(dead, copies)
finish(left, done)
variadic("ZREM", dead, left)
variadic("ZREM", leases, ended)
return { now_text, table.concat(outcomes) }
