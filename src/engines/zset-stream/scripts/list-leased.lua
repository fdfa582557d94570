-- Gives a part of the leases that the group holds, in no order: no index has them by due time.
-- KEYS: queue leases copies
-- ARGV: notAfter cursor count
-- Reply: {now, cursor, {id, due, sequence, …}}
--
-- The cursor is that of ZSCAN, 0 at the beginning and at the end; a lease may come twice.
local state, leases, copies = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include values
--- @include copies

local page, ids, found = redis.call("ZSCAN", leases, ARGV[2], "COUNT", ARGV[3]), {}, {}
for i = 1, #page[2], 2 do
  if tonumber(page[2][i + 1]) > now then
    ids[#ids + 1] = sub(page[2][i], 8)
  end
end
for i, value in ipairs(read_all(copies, ids)) do
  if value then
    local copy, n = copy_of(value), #found
    found[n + 1], found[n + 2], found[n + 3] = ids[i], whole(copy.due), copy.order
  end
end
return { now_text, page[1], found }
