-- Deletes dead letters: the ones named, else the ones buried first. Does as many as their bodies allow, from the first.
-- KEYS: messages leases leased failures dead state gone
-- ARGV: notAfter operation step since until most [id]
-- Reply: {now, outcomes, overwritten}
--
-- `until` and `most` say which when no ids are named. `outcomes` has a letter for each: r removed, n no dead letter.
local messages, leases, leased, failures = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local dead, state, gone = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include drain
drain(dead, leased)
--- @include once
--- @include values
--- @include format
--- @include bodies
--- @include failures
--- @include dead-letters
--- @include remember

local ids = chosen(7, ARGV[5], ARGV[6])
for i = #ids, fitting(ids) + 1, -1 do
  ids[i] = nil
end
local outcomes, left, removed = {}, {}, {}
for i, is_dead in ipairs(dead_of(ids)) do
  outcomes[i] = "n"
  if is_dead then
    left[#left + 1] = ids[i]
    -- One without its message leaves the index, so that the next call finds others.
    if redis.call("HEXISTS", messages, ids[i]) == 1 then
      outcomes[i] = "r"
      removed[#removed + 1] = ids[i]
    end
  end
end

drain(leases, failures)
local reply = answer(table.concat(outcomes), #removed)
remember(removed)
variadic("ZREM", dead, left)
variadic("ZREM", leases, left)
variadic("HDEL", leased, left)
variadic("HDEL", failures, left)
variadic("HDEL", messages, removed)
return reply
