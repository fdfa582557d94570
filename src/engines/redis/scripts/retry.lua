-- Makes messages whose leases are still held due again later, one attempt used; buries those that have none left.
-- KEYS: schedule leases leased failures dead state waiting
-- ARGV: notAfter channel [id token delay error]
-- Reply: {now, outcomes}
local schedule, leases, leased, failures, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local state, waiting, channel = KEYS[6], KEYS[7], ARGV[2]
--- @include begin
--- @include format
--- @include held
--- @include due
--- @include bury
--- @include wake

local outcomes, ids, held, at = held_of(3, 4)
local old = read_all(failures, ids)
local places, failed, earliest = {}, {}, math.huge
for i, id in ipairs(ids) do
  local seq, due, limit = lease_of(held[i])
  local count, error_at, _, _, error_json = failure_of(old[i])
  -- One that fails without an error keeps the error before it.
  if ARGV[at[i] + 3] ~= "" then
    error_at, error_json = now, ARGV[at[i] + 3]
  end
  if count + 1 >= limit then
    bury(id, due, "attempts", count + 1, error_at, error_json)
  else
    local again = due_of("d", ARGV[at[i] + 2])
    local n = #places
    places[n + 1], places[n + 2] = again, seq .. id
    failed[n + 1], failed[n + 2] = id, failure_value(count + 1, error_at, 0, "", error_json)
    earliest = math.min(earliest, again)
  end
end
if #places > 0 then
  notify(earliest)
end

-- The first write frees memory, so that all run at the memory limit, too.
variadic("ZREM", leases, ids)
variadic("HDEL", leased, ids)
variadic("HSET", failures, failed)
variadic("ZADD", schedule, places)
bury_all()
wake_write()
return { now_text, outcomes }
