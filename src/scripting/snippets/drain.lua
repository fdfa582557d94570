-- Drain: tries what the script is about to write, before it changes anything. Lua does not roll back, so what would stop it
-- half-way must stop it here: a right that was taken away, a key of another kind, a node that is no primary any more. And at its
-- memory limit Redis refuses a script at its first write, unless that is a command that frees memory; after one, even one that
-- removes nothing, all that follows runs.
--
-- `entries`: a zset, `fields`: a hash, of which something may be removed; `added`: a zset to which something may be added. No
-- member or field is empty, so nothing is changed. HSET cannot be tried in this way: it is to be the first of the writes.
local function drain(entries, fields, added)
  redis.call("ZREM", entries, "")
  if fields then
    redis.call("HDEL", fields, "")
  end
  if added then
    redis.call("ZADD", added, "XX", 0, "")
  end
end
