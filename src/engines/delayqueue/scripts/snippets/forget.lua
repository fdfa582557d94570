-- Forget: deletes messages with all that belongs to them, but for entries in lists. Needs `pending`, `unack`, `counts`, `garbage`,
-- `messages`, `notes` (keys), and the snippet values. Payloads are freed in the background. Gives how many there were.
local function forget(ids)
  if #ids == 0 then
    return 0
  end
  local payloads, own = {}, {}
  for i, id in ipairs(ids) do
    payloads[i], own[i] = messages .. id, notes .. id
  end
  variadic("ZREM", pending, ids)
  variadic("ZREM", unack, ids)
  variadic("HDEL", counts, ids)
  variadic("SREM", garbage, ids)
  redis.call("UNLINK", unpack(own))
  return redis.call("UNLINK", unpack(payloads))
end
