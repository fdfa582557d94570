-- Reads messages without touching them. Does as many as their payloads allow, from the first.
-- KEYS: pending unack counts garbage messages notes state
-- ARGV: notAfter [id]
-- Reply: {now, message or nil, …}
--
-- A message is as in snippets/read.lua.
local pending, unack, counts, garbage = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local messages, notes, state = KEYS[5], KEYS[6], KEYS[7]
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include standing
--- @include read
local reply, bytes = { now_text }, 0
for i = 2, #ARGV do
  bytes = bytes + bytes_of(ARGV[i])
  if bytes > 1048576 and i > 2 then
    break
  end
  reply[#reply + 1] = read_message(ARGV[i]) or false
end
return reply
