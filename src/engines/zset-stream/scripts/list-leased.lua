-- Gives a part of the leases of the group, in no order: those that are held, or those that have ended and were the last attempt.
-- KEYS: queue leases copies
-- ARGV: notAfter cursor count which
-- Reply: {now, cursor, {id, time, tail, …}}
--
-- `which`: held, then time and tail are due time and sequence number; or ended, then they are the end of the lease and the id, as
-- of a dead letter. The cursor is that of ZSCAN, 0 at the beginning and at the end; a lease may come twice.
local state, leases, copies, wants_ended = KEYS[1], KEYS[2], KEYS[3], ARGV[4] == "ended"
--- @include begin
--- @include values
--- @include copies

local page, ids, ends, found = redis.call("ZSCAN", leases, ARGV[2], "COUNT", ARGV[3]), {}, {}, {}
for i = 1, #page[2], 2 do
  local deadline = tonumber(page[2][i + 1])
  if (deadline <= now) == wants_ended then
    ids[#ids + 1], ends[#ends + 1] = sub(page[2][i], 8), deadline
  end
end
for i, value in ipairs(read_all(copies, ids)) do
  local copy, n = value and copy_of(value), #found
  if copy and not wants_ended then
    found[n + 1], found[n + 2], found[n + 3] = ids[i], whole(copy.due), copy.order
  elseif copy and copy.count + 1 >= copy.limit then
    found[n + 1], found[n + 2], found[n + 3] = ids[i], whole(ends[i]), ids[i]
  end
end
return { now_text, page[1], found }
