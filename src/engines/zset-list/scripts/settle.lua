-- Ends leases that are still held: deletes their messages, makes them due again, or buries them. Does as many as it may delete,
-- from the first.
-- KEYS: schedule messages standing leases dead state waiting gone
-- ARGV: notAfter channel verb [id token delay text error]
-- Reply: {now, outcomes}
--
-- `verb`: a acknowledge, t retry, r release, b bury. `delay`: ms; empty in a release keeps the due time. `text`: the reason of a
-- burial. `error`: JSON or empty. `outcomes` has a letter for each: s settled, l lease lost.
local schedule, messages, standing, leases, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local state, waiting, gone = KEYS[6], KEYS[7], KEYS[8]
local channel, verb = ARGV[2], ARGV[3]
--- @include begin
--- @include values
--- @include drain
--- @include bodies
--- @include records
--- @include due
--- @include wake
--- @include remember

local ids = {}
for i = 4, #ARGV, 5 do
  ids[#ids + 1] = ARGV[i]
end
if verb == "a" then
  for i = #ids, fitting(ids) + 1, -1 do
    ids[i] = nil
  end
end
drain(leases, standing, schedule)
drain(dead, messages, dead)
local outcomes, done, forgotten, unmarked = {}, {}, {}, {}
local records, places, burials, earliest = {}, {}, {}, math.huge
local function add(list, one, other)
  list[#list + 1], list[#list + 2] = one, other
end
for i, value in ipairs(read_all(standing, ids)) do
  local id, at = ids[i], 5 * i - 1
  local record = value and record_of(value)
  if not record or record.kind ~= "l" or record.text ~= ARGV[at + 1] then
    outcomes[i] = "l"
  else
    if verb == "a" then
      forgotten[#forgotten + 1] = id
    else
      local delay, failure = ARGV[at + 2], ARGV[at + 4]
      record.count = record.count + (verb == "r" and 0 or 1)
      if failure ~= "" then
        record.error_at, record.error = now, failure
      end
      if verb == "b" or (verb == "t" and record.count >= record.limit) then
        record.kind, record.text = "d", verb == "b" and ARGV[at + 3] or "attempts"
        add(burials, whole(now), id)
        add(records, id, value_of(record))
      else
        local due = delay == "" and record.due or due_of("d", delay)
        earliest = math.min(earliest, due)
        add(places, whole(due), record.seq .. id)
        record.kind, record.text = "w", ""
        if record.count == 0 then
          unmarked[#unmarked + 1] = id
        else
          add(records, id, value_of(record))
        end
      end
    end
    outcomes[i], done[#done + 1] = "s", id
  end
end
if #places > 0 then
  notify(earliest)
end
wake_write()
remember(forgotten)
variadic("HDEL", messages, forgotten)
variadic("HDEL", standing, forgotten)
variadic("HSET", standing, records)
variadic("HDEL", standing, unmarked)
variadic("ZADD", dead, burials)
variadic("ZADD", schedule, places)
-- Last, so that a lease is never without its end.
variadic("ZREM", leases, done)
return { now_text, table.concat(outcomes) }
