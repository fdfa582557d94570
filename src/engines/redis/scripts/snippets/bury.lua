-- Bury: moves messages to the dead letters. Needs `dead`, `failures` (keys), `now`, and the snippet format.
-- `bury` only notes; `bury_all` writes, so that a script can read and validate to its end first. Taking the message out of
-- `schedule`, or out of `leases` and `leased`, is the caller's.
local buried, buried_failures = {}, {}
-- `at`: when it was buried; now when left out.
local function bury(id, due, reason, count, error_at, error_json, at)
  buried[#buried + 1] = whole(at or now)
  buried[#buried + 1] = id
  buried_failures[#buried_failures + 1] = id
  buried_failures[#buried_failures + 1] = failure_value(count, error_at, due, reason, error_json)
end
local function bury_all()
  if #buried > 0 then
    -- Shows that it is a zset, before HSET comes first.
    redis.call("ZCARD", dead)
  end
  variadic("HSET", failures, buried_failures)
  variadic("ZADD", dead, buried)
  buried, buried_failures = {}, {}
end
