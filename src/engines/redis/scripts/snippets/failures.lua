-- Failures: reads what is known of failures, within a budget of bytes: an error has up to 4 KiB, and reading 1,000 of them took
-- 17 ms. Needs `failures` (key).
local failures_budget = 65536

-- The values of as many of `ids`, from the first and at least one, as fit into the budget; shortens `ids` to these. `false`
-- where nothing is known; empty when nothing failed, as is usual.
local function read_failures(ids, most)
  local values, bytes = {}, 0
  if #ids == 0 or redis.call("HLEN", failures) == 0 then
    return values
  end
  for i, id in ipairs(ids) do
    local value = redis.call("HGET", failures, id)
    values[i] = value
    bytes = bytes + (value and #value or 0)
    if bytes > (most or failures_budget) then
      for j = #ids, i + 1, -1 do
        ids[j] = nil
      end
      break
    end
  end
  return values
end
