-- Group: makes the group where it is missing, and puts back what a stream had that somebody deleted. Part of claim. Gives
-- `delivered`: the entry that the group has read last.
--
-- A new group begins at the end of the stream: it gets what comes due from now on. One that has copies was lost, with its list of
-- pending entries; it begins at the start, so that nobody takes for acknowledged what it has not read again.
if redis.call("EXISTS", stream) == 0 and redis.call("EXISTS", moved) == 1 and redis.call("EXISTS", lost) == 0 then
  redis.call("RENAME", moved, lost)
end
local delivered = stream_groups()[group]
if not delivered then
  local is_new = redis.call("EXISTS", copies) == 0
  redis.call("XGROUP", "CREATE", stream, group, is_new and "$" or "0", "MKSTREAM")
  redis.call("SADD", groups, group)
  delivered = stream_groups()[group]
end
if redis.call("EXISTS", lost) == 1 then
  local page = redis.call("HSCAN", lost, 0, "COUNT", 100)[2]
  local back, ids = {}, {}
  for i = 1, #page, 2 do
    local id = page[i]
    local seq = redis.call("HSTRLEN", messages, id) > 0 and sub(redis.call("HGET", messages, id), 1, 7)
    ids[#ids + 1] = id
    if seq then
      back[#back + 1], back[#back + 2] = whole(moved_of(page[i + 1]).due), seq .. id
    end
  end
  variadic("ZADD", schedule, back)
  variadic("HDEL", lost, ids)
end
