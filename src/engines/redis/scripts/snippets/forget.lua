-- Forget: takes messages out of all indexes; in which one each is need not be known. Needs `schedule`, `leases`, `leased`,
-- `failures`, `dead` (keys), and the snippets format and drain.
-- Call this before the first write; after it `forget` cannot stop half-way.
local function drain_indexes()
  drain(schedule, leased)
  drain(dead, failures)
  drain(leases)
end

-- `members`: sequence numbers and ids, as in `schedule`.
local function forget(ids, members)
  variadic("ZREM", schedule, members)
  variadic("ZREM", dead, ids)
  variadic("ZREM", leases, ids)
  variadic("HDEL", leased, ids)
  variadic("HDEL", failures, ids)
end
