-- Gives a part of the leases that are held, in no order: no index has them by due time.
-- KEYS: leases leased state
-- ARGV: notAfter cursor count
-- Reply: {now, cursor, {id, due, sequence, …}}
--
-- The cursor is that of HSCAN, 0 at the beginning and at the end; a lease may come twice.
local leases, leased, state = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include values
--- @include format

local scan = redis.call("HSCAN", leased, ARGV[2], "COUNT", ARGV[3])
local cursor, found, held = scan[1], scan[2], {}
for first = 1, #found, 14000 do
  local last, ids = math.min(first + 13999, #found), {}
  for i = first, last, 2 do
    ids[#ids + 1] = found[i]
  end
  for i, deadline in ipairs(redis.call("ZMSCORE", leases, unpack(ids))) do
    if deadline and tonumber(deadline) > now then
      local seq, due = lease_of(found[first + 2 * i - 1])
      local n = #held
      held[n + 1], held[n + 2], held[n + 3] = ids[i], whole(due), seq
    end
  end
end
return { now_text, cursor, held }
