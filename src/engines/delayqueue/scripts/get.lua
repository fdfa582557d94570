-- Reads messages without touching them. Does as many as their payloads allow, from the first.
-- KEYS: pending unack counts garbage messages notes state
-- ARGV: notAfter [id]
-- Reply: {now, {state, payload, due, attempts, leaseUntil, headers, failedAt, error} or nil, …}
local pending, unack, counts, garbage = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local messages, notes, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include standing
local reply, bytes = { now_text }, 0
for i = 2, #ARGV do
  local id = ARGV[i]
  bytes = bytes + redis.call("STRLEN", messages .. id) + redis.call("STRLEN", notes .. id)
  if bytes > 1048576 and i > 2 then
    break
  end
  local standing, where, due, note, lease = standing_of(id)
  -- One that is being worked on can outlive its payload.
  local payload = standing and redis.call("GET", messages .. id)
  if payload then
    local name = standing == "leased" and "leased" or due <= now and "due" or "scheduled"
    -- Also of what the Go library put into `retry`, as claim.lua counts it.
    local under_way = where == "unack" or (where == "list" and note.lease > 0)
    reply[#reply + 1] = { name, payload, whole(due), note.count + (under_way and 1 or 0),
      whole(lease and end_at(lease) or 0), note.headers, whole(note.failed_at), note.failure }
  else
    reply[#reply + 1] = false
  end
end
return reply
