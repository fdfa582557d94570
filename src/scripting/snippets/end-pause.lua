-- End pause: ends it, and wakes a consumer for what came due meanwhile. Needs `schedule`, `state` (keys), `paused` (snippet begin),
-- and the snippets drain and wake.
local head = redis.call("ZRANGE", schedule, 0, 0, "WITHSCORES")[2]
if paused and head then
  notify(tonumber(head))
end
drain(schedule)
wake_write()
redis.call("HDEL", state, "paused")
