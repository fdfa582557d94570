-- Due again: gives messages a new due time, and ends the leases that they had. Needs `schedule`, `leases`, `leased`, `failures`
-- (keys), and the snippets format, drain, bury, trim and wake. What is called before `due_again_all` only notes.
local again, again_failed, again_earliest = {}, {}, math.huge

-- `member`: sequence number and id, as in `schedule`; so it keeps its place among equal due times.
local function due_again(member, due)
  again[#again + 1] = due
  again[#again + 1] = member
  again_earliest = math.min(again_earliest, due)
end

-- `count`: the attempts that are used up now. The error stays for whoever looks at the message.
local function attempt_used(id, count, error_at, error_json)
  again_failed[#again_failed + 1] = id
  again_failed[#again_failed + 1] = failure_value(count, error_at, 0, "", error_json)
end

-- Publishes, then writes. `ended`: the ids of all leases that end, of the messages that were buried, too.
local function due_again_all(ended)
  if #again > 0 then
    notify(again_earliest)
  end
  drain(leases, leased, schedule)
  wake_write()
  bury_all()
  variadic("HSET", failures, again_failed)
  variadic("ZADD", schedule, again)
  variadic("HDEL", leased, ended)
  variadic("ZREM", leases, ended)
  trim(#ended)
end
