-- Removes messages that nobody works on, dead letters too, or dead letters alone. Does as many as it may delete, from the first.
-- KEYS: schedule ready messages standing leases dead state gone
-- ARGV: notAfter only-dead [id]
-- Reply: {now, outcomes}
--
-- `only-dead`: 1 or 0. `outcomes` has a letter for each: c removed, l leased, a absent or not dead.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local only_dead = ARGV[2] == "1"
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include bodies
--- @include records
--- @include reclaim
--- @include places
--- @include remember

local ids = {}
for i = 3, #ARGV do
  ids[#ids + 1] = ARGV[i]
end
drain(leases, standing, schedule)
drain(dead, messages, dead)
local values = read_bodies(ids)
reclaim_these(ids)
local old = read_all(standing, ids)
local outcomes, removed, members = {}, {}, {}
for i, value in ipairs(values) do
  local record = value and record_of(old[i], sub(value, 1, 7))
  if not record or (only_dead and record.kind ~= "d") then
    outcomes[i] = "a"
  elseif record.kind == "l" then
    outcomes[i] = "l"
  else
    outcomes[i], removed[#removed + 1] = "c", ids[i]
    if record.kind == "w" then
      members[#members + 1] = record.seq .. ids[i]
    end
  end
end
displace(members)
remember(removed)
forget(removed)
return { now_text, table.concat(outcomes) }
