-- Wide: Redis keeps a small hash or zset as a packed list, and reads all of it to look up or to add one entry. That was half of
-- what a claim of 250 cost, and its settlement: 12 µs a message, now 6. An entry that is too long for such a list turns it into
-- a table, which it stays until it is empty, or loaded by a restart or a full sync. Where `*-listpack-value` is 257 or more
-- it stays a list, and nothing is gained. `drain` has tried the same HDEL and ZREM before, and no id is "": nothing stops what
-- is written here half-way. Needs `leased` and `leases` (keys), and `drain` before it.
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
