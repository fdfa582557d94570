-- Begin: the time, and whether this call may still run. Needs the local `state`; gives the locals below.
local time = redis.call("TIME")
-- Whole microseconds; exact in a double until the year 2255.
local now_us = time[1] * 1000000 + time[2]
-- Whole ms, rounded down: what is due, and which lease has ended, is decided by this.
local now = math.floor(now_us / 1000)
-- First element of every reply; the client sets its clock by it.
local now_text = string.format("%.3f", now_us / 1000)
-- A call that hung in a socket must not act on another incarnation of a message.
if now > tonumber(ARGV[1]) then
  return redis.error_reply("TOOLATE " .. now_text)
end
-- One read of all that a script may ask of the state.
local fields = redis.call("HMGET", state, "v", "paused", "biggest", "duty", "dutyAt", "deputy", "deputyAt", "deputySeen",
  "rememberFor", "partitions")
-- Layout version, or false in a queue that nobody wrote to yet.
local layout = fields[1]
if layout and tonumber(layout) > 1 then
  return redis.error_reply("LAYOUT " .. layout)
end
-- Another process has split the queue, so its messages lie elsewhere.
if fields[10] then
  return redis.error_reply("PARTITIONS " .. fields[10])
end
local paused = fields[2] == "1"
-- The largest value ever stored in `messages`, bytes: lets a script skip HSTRLEN when n × biggest is small.
local biggest = tonumber(fields[3] or 0)
