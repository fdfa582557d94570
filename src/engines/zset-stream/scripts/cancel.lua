-- Takes messages that no consumer of any group works on from all groups, dead letters too. Does as many as their bodies allow, from
-- the first.
-- KEYS: schedule messages moved lost stream groups queue gone
-- ARGV: notAfter groups [name channel] newest [id]
-- Reply: {now, outcomes}
--
-- KEYS go on with those of each group: snippets/groups.lua. `newest`: of a purge, which passes over what got a later sequence
-- number or is dead; else empty. `outcomes` has a letter for each: c cancelled, l leased, a absent or passed over.
local schedule, messages, moved, lost, stream, groups = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local state, gone, own_keys = KEYS[7], KEYS[8], 8
--- @include begin
--- @include groups
--- @include values
--- @include bodies
--- @include copies
--- @include drain
--- @include remember
--- @include parts

local newest, asked = tonumber(ARGV[first_arg]), {}
for i = first_arg + 1, #ARGV do
  asked[#asked + 1] = ARGV[i]
end
local outcomes, ids, members = {}, {}, {}
for i, value in ipairs(read_bodies(asked)) do
  outcomes[i] = "a"
  if value then
    local standing = standing_of(asked[i], value)
    if standing == "leased" then
      outcomes[i] = "l"
    elseif not newest or (standing == "waiting" and unpack_bytes(">I7", value) <= newest) then
      outcomes[i] = "c"
      ids[#ids + 1], members[#members + 1] = asked[i], sub(value, 1, 7) .. asked[i]
    end
  end
end
drain(schedule, messages)
remember(ids)
withdraw(ids, members)
variadic("HDEL", messages, ids)
return { now_text, table.concat(outcomes) }
