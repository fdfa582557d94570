-- Reclaims leases of the group that have ended, those that ended first, so that what counts as due or dead lies with these.
-- KEYS: stream queue leases again copies dead failures
-- ARGV: notAfter group
-- Reply: {now, how many, the last sequence number, {id, …} buried}
local stream, state, leases, again = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local copies, dead, failures, group = KEYS[5], KEYS[6], KEYS[7], ARGV[2]
--- @include begin
--- @include values
--- @include copies
--- @include drain

local ended = redis.call("ZRANGEBYSCORE", leases, "-inf", now, "WITHSCORES", "LIMIT", 0, 125)
local ids, members, values, places, buried, records, owners, told = {}, {}, {}, {}, {}, {}, {}, {}
local function add(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end
for i = 1, #ended, 2 do
  members[#members + 1], ids[#ids + 1] = ended[i], sub(ended[i], 8)
end
local old = read_all(failures, ids)
for i, value in ipairs(read_all(copies, ids)) do
  if value then
    local copy, deadline = copy_of(value), ended[2 * i]
    copy.count, copy.token = copy.count + 1, ""
    if copy.count >= copy.limit then
      local error_at, _, error_json = failure_of(old[i])
      add(records, ids[i], failure_value(error_at, "attempts", error_json))
      add(buried, deadline, ids[i])
      told[#told + 1] = ids[i]
      owners[i] = { dead_owner, copy }
    else
      copy.due = tonumber(deadline)
      add(places, deadline, members[i])
      owners[i] = { waiting_owner, copy }
    end
    add(values, ids[i], copy_value(copy))
  end
end
drain(leases, copies, again)
variadic("HSET", failures, records)
variadic("HSET", copies, values)
for _, one in pairs(owners) do
  redis.call("XCLAIM", stream, group, one[1], 0, entry_id(one[2]), "RETRYCOUNT", one[2].count, "JUSTID")
end
variadic("ZADD", again, places)
variadic("ZADD", dead, buried)
variadic("ZREM", leases, members)
return { now_text, #members, redis.call("HGET", state, "seq") or "0", told }
