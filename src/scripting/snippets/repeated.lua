-- Repeated: stops an attempt that hung on its way and runs after its call was made again. What the repetition stored may have
-- been taken since, and would be stored again. Needs `state` (key), `now`, `now_text`, and the local `attempt`: when an attempt
-- of this call was lost, the server's time before it was first made, else nothing; a space; and the name that the call has in
-- all its attempts. Gives `since`, that time or nil.
local since_text, call = string.match(attempt, "^(%d*) (%S+)$")
local since = tonumber(since_text)
-- The calls whose repetitions stored something, each with the time until which an attempt of it may run: `name notAfter;`.
local repeated = redis.call("HGET", state, "repeated") or ""
if not since and string.find(";" .. repeated, ";" .. call .. " ", 1, true) then
  return redis.error_reply("TOOLATE " .. now_text)
end

-- To be called by each script that stores, before it does. The names of calls whose time is over go.
local function note_repeated()
  if not since then
    return
  end
  local still = { call .. " " .. ARGV[1] .. ";" }
  for name, not_after in string.gmatch(repeated, "(%S+) (%d+);") do
    if name ~= call and tonumber(not_after) >= now then
      still[#still + 1] = name .. " " .. not_after .. ";"
    end
  end
  redis.call("HSET", state, "repeated", table.concat(still))
end
