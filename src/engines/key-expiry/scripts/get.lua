-- Reads messages. Does as many as their bytes allow, from the first.
-- KEYS: state
-- ARGV: notAfter
-- Reply: {now, message or nil, …}
--
-- More KEYS: the message of each id.
local state = KEYS[1]
--- @include begin
local max_bytes = 262144
local reply, bytes = { now_text }, 0
for i = 2, #KEYS do
  bytes = bytes + redis.call("STRLEN", KEYS[i])
  if bytes > max_bytes and i > 2 then
    break
  end
  reply[i] = redis.call("GET", KEYS[i])
end
return reply
