-- Finish: the group is done with messages. Those that every other group is done with, too, are deleted. Needs `messages`,
-- `moved`, `stream`, `copies`, `failures` (keys), `group`, and the snippets copies, drain and remember.

-- Whether another group still has to do with the entry: it has not read it, or has not acknowledged it.
local function others_need(entry, all)
  for name, delivered in pairs(all) do
    if name ~= group and (is_after(entry.ms, entry.n, delivered.ms, delivered.n) or
      #redis.call("XPENDING", stream, name, entry_id(entry), entry_id(entry), 1) > 0) then
      return true
    end
  end
  return false
end

-- `done`: the copies, by the place of their id. Taking them out of `leases`, `again` or `dead` is the caller's.
local function finish(ids, done)
  if #ids == 0 then
    return
  end
  local all, entries, over, over_entries = stream_groups(), {}, {}, {}
  for i, id in ipairs(ids) do
    entries[i] = entry_id(done[i])
    if not others_need(done[i], all) then
      over[#over + 1], over_entries[#over_entries + 1] = id, entries[i]
    end
  end
  remember(over)
  redis.call("XACK", stream, group, unpack(entries))
  if #over > 0 then
    redis.call("XDEL", stream, unpack(over_entries))
    variadic("HDEL", messages, over)
    variadic("HDEL", moved, over)
  end
  variadic("HDEL", copies, ids)
  variadic("HDEL", failures, ids)
end
