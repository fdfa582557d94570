-- Read: a message as get and list give it: {id, state, payload, due, attempts, leaseUntil, headers, failedAt, error}, or nil. Needs
-- the snippet standing.
local function read_message(id)
  local standing, where, due, note, lease = standing_of(id)
  -- One that is being worked on can outlive its payload.
  local payload = standing and redis.call("GET", messages .. id)
  if not payload then
    return nil
  end
  local name = standing == "leased" and "leased" or due <= now and "due" or "scheduled"
  -- Also of what the Go library put into `retry`, as claim.lua counts it.
  local under_way = where == "unack" or (where == "list" and note.lease > 0)
  return { id, name, payload, whole(due), note.count + (under_way and 1 or 0), whole(lease and end_at(lease) or 0),
    note.headers, whole(note.failed_at), note.failure }
end

-- Bytes that reading it takes. What has the name of a payload can be of another type.
local function bytes_of(id)
  local length = redis.pcall("STRLEN", messages .. id)
  return (type(length) == "number" and length or 0) + redis.call("STRLEN", notes .. id)
end
