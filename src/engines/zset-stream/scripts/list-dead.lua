-- Finds dead letters of the group, in the order of their burial and then of their ids, after a place.
-- KEYS: queue dead
-- ARGV: notAfter from to limit after id
-- Reply: {now, {id, buriedAt, …}}
local state, dead, low, limit, after, last = KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[4]), ARGV[5], ARGV[6]
--- @include begin
--- @include values
--- @include rank

-- As Redis sorts members, byte by byte; how Lua compares text depends on the server's locale.
local function is_passed(member)
  for i = 1, math.min(#member, #last) do
    local x, y = byte(member, i), byte(last, i)
    if x ~= y then
      return x < y
    end
  end
  return #member <= #last
end
local first = redis.call("ZCOUNT", dead, "-inf", "(" .. low)
if after ~= "" and tonumber(after) >= tonumber(low) then
  first = rank_after(dead, tonumber(after), is_passed)
end
return { now_text, (entries_from(dead, first, redis.call("ZCOUNT", dead, "-inf", ARGV[3]), limit)) }
