-- Forget: deletes messages with all that belongs to them, but for entries in lists. Needs `pending`, `unack`, `counts`, `garbage`,
-- `messages`, `notes` (keys), and the snippet values. Payloads are freed in the background. Gives how many there were. The payloads
-- of `others`, a set of ids, belong to another queue and stay.
local function forget(ids, others)
  if #ids == 0 then
    return 0
  end
  local payloads, own = {}, {}
  for i, id in ipairs(ids) do
    own[i] = notes .. id
    if not (others and others[id]) then
      payloads[#payloads + 1] = messages .. id
    end
  end
  variadic("ZREM", pending, ids)
  variadic("ZREM", unack, ids)
  variadic("HDEL", counts, ids)
  variadic("SREM", garbage, ids)
  redis.call("UNLINK", unpack(own))
  return #payloads > 0 and redis.call("UNLINK", unpack(payloads)) or 0
end
