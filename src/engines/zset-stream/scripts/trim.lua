-- Gives up the dead letters of the group that are over its bounds, those buried first, as many as their bodies allow.
-- KEYS: messages moved stream queue gone copies dead failures
-- ARGV: notAfter group mostDead deadFor
-- Reply: {now, {id, …} dropped, how many were dropped so far, when the oldest that stays was buried or ""}
--
-- `mostDead`: how many there may be, `deadFor`: for how long each, ms; empty where there is no bound.
local messages, moved, stream, state, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local copies, dead, failures, group = KEYS[6], KEYS[7], KEYS[8], ARGV[2]
local most_dead, dead_for = tonumber(ARGV[3]), tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include bodies
--- @include copies
--- @include drain
--- @include remember
--- @include finish

local over = most_dead and redis.call("ZCARD", dead) - most_dead or 0
local old = dead_for and redis.call("ZCOUNT", dead, "-inf", whole(now - dead_for)) or 0
local count = math.min(125, math.max(over, old))
local ids = count > 0 and redis.call("ZRANGE", dead, 0, count - 1) or {}
for i = #ids, fitting(ids) + 1, -1 do
  ids[i] = nil
end
local done, known = {}, {}
for i, value in ipairs(read_all(copies, ids)) do
  if value then
    known[#known + 1], done[#done + 1] = ids[i], copy_of(value)
  end
end
drain(dead, copies)
local total = #ids > 0 and redis.call("HINCRBY", state, "dropped", #ids) or 0
finish(known, done)
variadic("ZREM", dead, ids)
return { now_text, ids, total, redis.call("ZRANGE", dead, 0, 0, "WITHSCORES")[2] or "" }
