-- Groups: the groups that the caller knows, with their keys. Needs `groups` (key), and the local `own_keys`: how many keys come
-- before theirs. ARGV[2] is how many there are; a name and a prefix of channels for each follow. In KEYS each has: state waiting
-- leases again copies dead failures. Gives `all_groups`, and `first_arg`, where the other arguments begin.
--
-- Keys are never made here, so a caller that does not know of a group is told of all, and calls again.
local group_count = tonumber(ARGV[2])
local all_groups, first_arg = {}, 3 + 2 * group_count
for i = 1, group_count do
  local at = own_keys + 7 * (i - 1)
  all_groups[i] = { name = ARGV[1 + 2 * i], channel = ARGV[2 + 2 * i], state = KEYS[at + 1], waiting = KEYS[at + 2],
    leases = KEYS[at + 3], again = KEYS[at + 4], copies = KEYS[at + 5], dead = KEYS[at + 6], failures = KEYS[at + 7] }
end
local group_names = redis.call("SMEMBERS", groups)
local known_groups = #group_names == group_count
for _, one in ipairs(all_groups) do
  known_groups = known_groups and redis.call("SISMEMBER", groups, one.name) == 1
end
if not known_groups then
  return { now_text, group_names }
end
