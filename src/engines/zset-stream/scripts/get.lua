-- Reads messages as the group has them, and as many as their bodies allow, from the first.
-- KEYS: schedule messages moved stream queue leases copies dead failures
-- ARGV: notAfter group [id]
-- Reply: {now, {{state, due, attempts so far, leaseUntil, buriedAt, failure, value} or false, …}}
--
-- `state` is w (scheduled or due, by its due time), l or x (dead).
local schedule, messages, moved, stream, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local leases, copies, dead, failures, group = KEYS[6], KEYS[7], KEYS[8], KEYS[9], ARGV[2]
--- @include begin
--- @include values
--- @include bodies
--- @include copies

local ids, rows = {}, {}
for i = 3, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
local bodies = read_bodies(ids)
local places, own, old = read_all(moved, ids), read_all(copies, ids), read_all(failures, ids)
local delivered
for i, value in ipairs(bodies) do
  local id, copy = ids[i], own[i] and copy_of(own[i])
  rows[i] = false
  if value and copy and copy.seq == sub(value, 1, 7) then
    local buried_at, deadline, count = redis.call("ZSCORE", dead, id), nil, copy.count
    local standing, due = buried_at and "x" or "w", copy.due
    if copy.token ~= "" then
      deadline = tonumber(redis.call("ZSCORE", leases, copy.order .. id) or 0)
      count = count + 1
      standing = deadline > now and "l" or "w"
      if deadline <= now and count >= copy.limit then
        standing, buried_at = "x", whole(deadline)
      elseif deadline <= now then
        -- A lease that has ended counts as reclaimed.
        due = deadline
      end
    end
    local failure = old[i] or ""
    if standing == "x" and copy.token ~= "" then
      local at, _, error_json = failure_of(old[i])
      failure = failure_value(at, "attempts", error_json)
    end
    rows[i] = { standing, whole(due), count, whole(deadline or 0), buried_at or "0", failure, value }
  elseif value and places[i] then
    delivered = delivered or stream_groups()[group] or { ms = 2 ^ 53, n = 0 }
    local at = moved_of(places[i])
    if is_after(at.ms, at.n, delivered.ms, delivered.n) then
      rows[i] = { "w", whole(at.due), 0, "0", "0", "", value }
    end
  elseif value then
    local due = redis.call("ZSCORE", schedule, sub(value, 1, 7) .. id)
    rows[i] = due and { "w", whole(tonumber(due)), 0, "0", "0", "", value } or false
  end
end
return { now_text, rows }
