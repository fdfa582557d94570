-- Finds dead letters of the group, in the order of their burial and then of their ids, after a place.
-- KEYS: queue dead
-- ARGV: notAfter from to limit after id
-- Reply: {now, {id, buriedAt, …}}
local state, dead, low, limit, after, last = KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[4]), ARGV[5], ARGV[6]
--- @include begin
--- @include values
--- @include id-order
--- @include rank
local first = redis.call("ZCOUNT", dead, "-inf", "(" .. low)
if after ~= "" and tonumber(after) >= tonumber(low) then
  first = rank_after(dead, tonumber(after), function(member)
    return not id_precedes(last, member)
  end)
end
return { now_text, (entries_from(dead, first, redis.call("ZCOUNT", dead, "-inf", ARGV[3]), limit)) }
