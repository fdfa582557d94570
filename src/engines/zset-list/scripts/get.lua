-- Reads messages without touching them. Gives as many as fit into the budget of bytes, from the first.
-- KEYS: schedule ready messages standing leases dead state
-- ARGV: notAfter [id]
-- Reply: {now, [message or nil]}
--
-- A message is {kind, value, dueAt, deliveries that counted, end of the lease or time of burial, reason, when the last error came,
-- error}; `kind` is w, l or d. A lease that has ended counts as reclaimed.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
--- @include line
--- @include bodies
--- @include records
--- @include places

local ids, reply = {}, { now_text }
for i = 2, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
local values = read_bodies(ids)
local old = read_all(standing, ids)
for i, value in ipairs(values) do
  local message = false
  if value then
    local id, record = ids[i], record_of(old[i], sub(value, 1, 7))
    local due, at, reason = record.due, "0", ""
    if record.kind == "l" then
      -- Without its entry nobody can be said to hold it; a repair mends that.
      at, record.count = redis.call("ZSCORE", leases, id) or whole(now), record.count + 1
      if tonumber(at) <= now then
        due = record.count >= record.limit and due or tonumber(at)
        record.kind = record.count >= record.limit and "d" or "w"
        reason = "attempts"
      end
    elseif record.kind == "d" then
      at, reason = redis.call("ZSCORE", dead, id) or whole(now), record.text
    else
      due = due_time_of(record.seq .. id)
    end
    message = { record.kind, value, whole(due), record.count, at, reason, whole(record.error_at), record.error }
  end
  reply[i + 1] = message
end
return reply
