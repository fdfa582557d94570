-- Lists: takes messages out of `ready` and `retry` (keys), which Redis has to walk for it. Programs of the Go library move all
-- that is due there, so the lists can be long: then the entry stays. Its payload is gone, or its message is pending, and
-- whoever draws it passes it over.
local longest, most_steps = 1000, 20000
local list_length, list_steps

-- Whether the next one can be taken out in this call.
local function list_room()
  if not list_length then
    list_length, list_steps = redis.call("LLEN", ready) + redis.call("LLEN", retry), 0
  end
  return list_steps + list_length <= most_steps or list_length > longest
end
local function leave_lists(id)
  if list_room() and list_length <= longest then
    list_steps = list_steps + list_length
    redis.call("LREM", ready, 0, id)
    redis.call("LREM", retry, 0, id)
  end
end
