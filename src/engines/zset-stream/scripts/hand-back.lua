-- Ends leases that are still held otherwise than by acknowledging: due again, or dead, for this group. Does 100 at most.
-- KEYS: stream queue leases again copies dead failures state waiting
-- ARGV: notAfter group channel [id token verb delay reason error]
-- Reply: {now, outcomes}
--
-- `verb`: t retry (one attempt used, dead when that was the last), l release (none used; without a delay in its old place), b bury.
local stream, state, leases, again, copies = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local dead, failures, group, channel = KEYS[6], KEYS[7], ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include copies
--- @include drain
--- @include held
--- @include due

local outcomes, ids, held, at = held_of(4, 6, function(asked)
  return math.min(100, #asked)
end)
local members, places, buried, values, records, earliest = {}, {}, {}, {}, {}, math.huge
local old = read_all(failures, ids)
local owners = { [waiting_owner] = {}, [dead_owner] = {} }
local function add(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end
for i, id in ipairs(ids) do
  local copy, verb, delay, reason, error_json = held[i], unpack(ARGV, at[i] + 2, at[i] + 5)
  local error_at, _, old_error = failure_of(old[i])
  members[i] = copy.order .. id
  copy.token = ""
  copy.count = copy.count + (verb == "l" and 0 or 1)
  -- One that fails without an error keeps the error before it.
  if error_json ~= "" then
    error_at, old_error = now, error_json
  end
  local is_dead = verb == "b" or (verb == "t" and copy.count >= copy.limit)
  if is_dead then
    add(buried, whole(now), id)
  else
    copy.due = delay == "" and copy.due or due_of("d", delay)
    add(places, whole(copy.due), members[i])
    earliest = math.min(earliest, copy.due)
    reason = ""
  end
  if is_dead or error_json ~= "" then
    add(records, id, failure_value(error_at, verb == "t" and is_dead and "attempts" or reason, old_error))
  end
  add(values, id, copy_value(copy))
  local list = owners[is_dead and dead_owner or waiting_owner]
  list[#list + 1] = copy
end

local state, waiting = KEYS[8], KEYS[9]
local fields = waking_of(state)
--- @include wake
if #places > 0 then
  notify(earliest)
end
drain(leases, copies, again)
wake_write()
variadic("HSET", failures, records)
variadic("HSET", copies, values)
-- So that XPENDING tells who works on what, and a consumer that holds nothing can be taken off the group.
for owner, list in pairs(owners) do
  for _, copy in ipairs(list) do
    redis.call("XCLAIM", stream, group, owner, 0, entry_id(copy), "RETRYCOUNT", copy.count, "JUSTID")
  end
end
variadic("ZADD", again, places)
variadic("ZADD", dead, buried)
variadic("ZREM", leases, members)
return { now_text, outcomes }
