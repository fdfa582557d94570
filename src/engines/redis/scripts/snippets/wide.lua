-- Wide: Redis keeps a small hash or zset as a packed list, and reads all of it to look up or to add one entry. That was half of
-- what a claim of 250 cost, and its settlement: 12 µs a message, now 6. An entry that is too long for such a list turns it into
-- a table, which it stays until it is empty. Needs `leased` and `leases` (keys).
local wide = string.rep(" ", 257) -- Longer than any id.

-- Before many entries are written.
local function widen()
  redis.call("HSET", leased, "", wide)
  redis.call("ZADD", leases, 0, wide)
end
-- After it.
local function narrow()
  redis.call("HDEL", leased, "")
  redis.call("ZREM", leases, wide)
end
