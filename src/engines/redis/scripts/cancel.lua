-- Removes messages that nobody works on, dead letters too. Does as many as their bodies allow, from the first.
-- KEYS: schedule messages leases leased failures dead state gone
-- ARGV: notAfter [id]
-- Reply: {now, outcomes}
--
-- `outcomes` has a letter for each: c cancelled, l leased, a absent. A lease that has ended counts as reclaimed.
local schedule, messages, leases, leased = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local failures, dead, state, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
--- @include begin
--- @include values
--- @include bodies
--- @include drain
--- @include forget
--- @include remember

local asked = {}
for i = 2, #ARGV do
  asked[#asked + 1] = ARGV[i]
end
local values = read_bodies(asked)
local under_lease = read_all(leased, asked)
local outcomes, ids, members = {}, {}, {}
for i, value in ipairs(values) do
  local id = asked[i]
  if not value then
    outcomes[i] = "a"
  elseif under_lease[i] and tonumber(redis.call("ZSCORE", leases, id) or 0) > now then
    outcomes[i] = "l"
  else
    outcomes[i] = "c"
    ids[#ids + 1] = id
    members[#members + 1] = sub(value, 1, 7) .. id
  end
end

drain_indexes()
remember(ids)
forget(ids, members)
variadic("HDEL", messages, ids)
return { now_text, table.concat(outcomes) }
