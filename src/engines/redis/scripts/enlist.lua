-- Notes into how many partitions a queue is split, or refuses a process that would split it otherwise: ids would lie elsewhere.
-- KEYS: messages state
-- ARGV: notAfter partitions
-- Reply: {now}
--
-- Both are keys of the queue as it is when it is not split; messages there are of a time before.
local messages, state, partitions = KEYS[1], KEYS[2], ARGV[2]
local time = redis.call("TIME")
local now_text = string.format("%.3f", time[1] * 1000 + time[2] / 1000)
if tonumber(now_text) > tonumber(ARGV[1]) then
  return redis.error_reply("TOOLATE " .. now_text)
end
local noted = redis.call("HGET", state, "partitions") or redis.call("EXISTS", messages) == 1 and "1"
if noted and noted ~= partitions then
  return redis.error_reply("PARTITIONS " .. noted)
end
if not noted then
  redis.call("HSET", state, "partitions", partitions)
end
return { now_text }
