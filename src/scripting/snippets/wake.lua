-- Wake: who claims next, and when. Needs `state`, `waiting` (keys), `now`, `fields` (snippet begin) and the local
-- `channel` (prefix of the consumers' channels).
--
-- One consumer is on duty for the next time at which something is to be done, `duty_at`; a deputy looks `lag` later whether
-- it was done; the others poll. `duty_at` is never later than the next due message or the next end of a lease.
--
-- `notify`, `hand_on` and what they call only read and publish, since a PUBLISH can be denied and Lua does not roll back:
-- call them before the first write, and `wake_write` among the writes.
local poll, lag, tries = 5000, 50, 8
local duty, duty_at = fields[4] or "", tonumber(fields[5] or 0)
local deputy, deputy_at = fields[6] or "", tonumber(fields[7] or 0)
-- When the deputy claimed last, or was made the deputy. One that is alive polls; one that is silent for longer than `silence`
-- hears perhaps, like a process that is stopped, but does not act.
local deputy_seen, silence = tonumber(fields[8] or 0), poll + 1000
local wake_changed = false
-- Consumers to be taken out of `waiting`.
local placed = {}

-- Whether anybody heard it. "w": claim at that time or earlier; "p": no need to before that time; "?": nothing.
-- A name with a star listens on a sharded channel, as in a Cluster, so that this does not go to every node. Redis below 7.0 has
-- neither these nor a version for scripts; there such a consumer listens as the others do.
local function tell(consumer, verb, at)
  local sharded = string.byte(consumer) == 42 and redis.REDIS_VERSION_NUM
  return redis.call(sharded and "SPUBLISH" or "PUBLISH", channel .. consumer, string.format("%s %.0f", verb, at)) > 0
end

-- Finds the consumer that came to wait last and still listens, tells it, and gives its name, or "".
local function call_waiting(at, except)
  for _, consumer in ipairs(redis.call("ZREVRANGEBYSCORE", waiting, "+inf", now, "LIMIT", 0, tries)) do
    if consumer ~= duty and consumer ~= except then
      placed[#placed + 1] = consumer
      if tell(consumer, "w", at) then
        return consumer
      end
    end
  end
  return ""
end

-- Sees to it that there is a deputy, and that it looks at `at`, if need be without taking `except`.
local function set_deputy(at, except)
  if deputy ~= "" and deputy_seen + silence < now then
    deputy = ""
  end
  if deputy ~= "" and deputy_at ~= at and not tell(deputy, deputy_at < at and "p" or "w", at) then
    deputy = ""
  end
  if deputy == "" then
    deputy, deputy_seen = call_waiting(at, except), now
  end
  deputy_at = at
  wake_changed = true
end

-- Puts another consumer than `except` on duty, to claim at `at`.
local function hand_on(at, except)
  wake_changed = wake_changed or duty .. deputy ~= ""
  duty = ""
  if deputy ~= "" and deputy ~= except and tell(deputy, "w", at) then
    duty = deputy
  end
  deputy = ""
  if duty == "" then
    duty = call_waiting(at, except)
  end
  duty_at = at
  if duty ~= "" then
    wake_changed = true
    set_deputy(at + lag, except)
  end
end

-- Something is to be done at `at`: tells the one on duty unless it looks by then anyway.
local function notify(at)
  at = math.min(math.max(at, now), now + poll)
  if duty ~= "" and at >= duty_at then
    return
  end
  if duty ~= "" and tell(duty, "w", at) then
    duty_at = at
    wake_changed = true
    if deputy_at > at + lag or deputy == "" then
      set_deputy(at + lag)
    end
  else
    hand_on(at)
  end
end

local function wake_write()
  if wake_changed then
    local text = string.format
    redis.call("HSET", state, "duty", duty, "dutyAt", text("%.0f", duty_at), "deputy", deputy)
    redis.call("HSET", state, "deputyAt", text("%.0f", deputy_at), "deputySeen", text("%.0f", deputy_seen))
  end
  if #placed > 0 then
    redis.call("ZREM", waiting, unpack(placed))
  end
end
