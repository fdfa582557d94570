-- Mismatch: what is wrong with one id, and what mends it. Part of audit-check.
local seq, place = value and sub(value, 1, 7), redis.call("HGET", moved, id)
local at = place and moved_of(place)
local entry = at and entry_id(at)
local has_entry = entry and #redis.call("XRANGE", stream, entry, entry) > 0
local scheduled, was_lost = value and redis.call("ZSCORE", schedule, seq .. id), redis.call("HEXISTS", lost, id) == 1
if where == "s" and founds[i] ~= seq and redis.call("ZSCORE", schedule, founds[i] .. id) then
  tell(value and "schedule-stale" or "schedule-without-message")
  mend("ZREM", schedule, founds[i] .. id)
elseif where == "x" and founds[i] ~= entry and #redis.call("XRANGE", stream, founds[i], founds[i]) > 0 then
  tell("entry-without-message")
  drop_entry(founds[i])
end
if not value and place then
  tell("moved-without-message")
  drop_entry(entry)
  mend("HDEL", moved, id)
elseif value and place and not has_entry then
  tell("moved-without-entry")
  mend("HDEL", moved, id)
  mend("ZADD", schedule, whole(at.due), seq .. id)
elseif value and place and scheduled then
  tell("message-in-two-indexes")
  mend("ZREM", schedule, seq .. id)
elseif value and not place and not scheduled and not was_lost then
  tell("message-without-index")
  mend("ZADD", schedule, whole(now), seq .. id)
end
local is_needed = false
for _, one in ipairs(all_groups) do
  local text, delivered = redis.call("HGET", one.copies, id), read_up_to[one.name]
  local copy, buried = text and copy_of(text), redis.call("ZSCORE", one.dead, id)
  local verb, name = sub(where, 1, 1), sub(where, 2)
  local walked = name == one.name and ((verb == "l" and one.leases) or (verb == "a" and one.again))
  if walked and not (copy and copy.order == founds[i]) and redis.call("ZSCORE", walked, founds[i] .. id) then
    tell(verb == "l" and "lease-without-copy" or "again-without-copy")
    mend("ZREM", walked, founds[i] .. id)
  end
  if copy and not value then
    tell("copy-without-message")
    drop_copy(one, id, copy)
  elseif copy and copy.seq ~= seq then
    tell("copy-stale")
    drop_copy(one, id, copy)
    copy = nil
  elseif not copy and (buried or redis.call("HEXISTS", one.failures, id) == 1) then
    tell("dead-without-copy")
    drop_copy(one, id)
  end
  if value and copy then
    is_needed = true
    local member = copy.order .. id
    local lease, again_at = redis.call("ZSCORE", one.leases, member), redis.call("ZSCORE", one.again, member)
    local states = (lease and 1 or 0) + (again_at and 1 or 0) + (buried and 1 or 0)
    if states ~= 1 or (copy.token ~= "") ~= (lease and true or false) then
      tell("copy-without-state")
      -- As if its lease had ended: due at once, unless it is dead or has a time to be due at.
      copy.token, copy.count = "", copy.count + (copy.token ~= "" and 1 or 0)
      mend("HSET", one.copies, id, copy_value(copy))
      mend("ZREM", one.leases, member)
      if buried then
        mend("ZREM", one.again, member)
      elseif not again_at then
        mend("ZADD", one.again, whole(now), member)
      end
    end
    if has_entry and delivered and not is_after(at.ms, at.n, delivered.ms, delivered.n) and not is_pending(one.name, entry) then
      tell("copy-without-pending")
      mend("XCLAIM", stream, one.name, waiting_owner, 0, entry, "FORCE", "JUSTID")
    end
  elseif value and has_entry and delivered then
    if is_after(at.ms, at.n, delivered.ms, delivered.n) then
      is_needed = true
    elseif is_pending(one.name, entry) then
      is_needed = true
      tell("pending-without-copy")
      local copy = { order = seq, seq = seq, due = at.due, count = 0, limit = 0, lasting = false, ms = at.ms, n = at.n, token = "" }
      mend("HSET", one.copies, id, copy_value(copy))
      mend("ZADD", one.again, whole(now), seq .. id)
    end
  end
end
if value and has_entry and not is_needed and #all_groups > 0 then
  tell("message-done")
  drop_entry(entry)
  mend("HDEL", moved, id)
  mend("HDEL", messages, id)
end
