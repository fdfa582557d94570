-- Stores messages; one whose id exists is kept or replaced, as it says. Does as many as it may read, from the first.
-- KEYS: schedule ready messages standing leases dead state waiting gone
-- ARGV: notAfter channel rememberFor since [id kind when mode body]
-- Reply: {now, outcomes, dueAts}
--
-- `kind` and `when` as in snippets/due.lua; `mode`: k keeps, r replaces; `body`: all that follows seq, with the time to expiry in
-- the place of `expiresAt`. Ids are distinct. `outcomes` has a letter for each: s scheduled, d duplicate, e duplicate whose
-- body is the very same, g gone but remembered, r replaced, l leased. `dueAts` has an f64 for each: when it is due as it is
-- stored, or when it went. `rememberFor`: ms; 0 leaves what the queue was told last. `since`: when an attempt of this call
-- was lost, the server's time before it was first made; else empty. Then a message with the body of a replacement, due when
-- that would be, is what the lost attempt stored, and is left as it is: e.
local schedule, ready, messages, standing = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local leases, dead, state, waiting, gone = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local channel, ask_for, since = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include drain
--- @include line
--- @include body
--- @include bodies
--- @include records
--- @include reclaim
--- @include places
--- @include known
--- @include due
--- @include from-lost
--- @include wake

local ids, replaced = {}, {}
for i = 5, #ARGV, 5 do
  ids[#ids + 1] = ARGV[i]
  if ARGV[i + 3] == "r" then
    replaced[#replaced + 1] = ARGV[i]
  end
end
-- The first write is one that Redis refuses at its memory limit, so that nothing is stored by halves; it changes nothing.
redis.call("ZADD", schedule, "XX", 0, "")
drain(leases, standing, dead)
local values = read_bodies(ids)
reclaim_these(replaced)
local old, went = read_all(standing, ids), went_of(ids)
local outcomes, dues, fresh, removed, members, earliest, largest = {}, {}, {}, {}, {}, math.huge, biggest
for i, value in ipairs(values) do
  local at = 5 * i
  local kind, when, replaces, body = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3] == "r", ARGV[at + 4]
  local outcome, due = went[i] and "g" or "s", went[i]
  if value then
    local record = record_of(old[i], sub(value, 1, 7))
    due = record.kind == "w" and due_time_of(record.seq .. ids[i]) or record.due
    local same = sub(value, 8) == body_due(body, due)
    local keeps = not replaces or (since and same and is_from_lost(due, kind, tonumber(when)))
    outcome = keeps and (same and "e" or "d") or record.kind == "l" and "l" or "r"
    if outcome == "r" then
      removed[#removed + 1], members[#members + 1] = ids[i], record.seq .. ids[i]
    end
  end
  if outcome == "s" or outcome == "r" then
    due = due_of(kind, when)
    earliest = math.min(earliest, due)
    fresh[#fresh + 1] = { id = ids[i], due = whole(due), body = body_due(body, due) }
    largest = math.max(largest, 7 + #body)
  end
  outcomes[i], dues[i] = outcome, due
end

if ask_for > 0 and ask_for ~= remember_for then
  redis.call("HSET", state, "v", 1, "rememberFor", ARGV[3])
end
if #fresh > 0 then
  notify(earliest)
  local seq = redis.call("HINCRBY", state, "seq", #fresh) - #fresh
  if seq + #fresh > 9007199254740991 then
    return redis.error_reply("ERR the sequence numbers of this queue are used up")
  end
  displace(members)
  forget(removed)
  local bodies, places = {}, {}
  for k, message in ipairs(fresh) do
    local number = pack(">I7", seq + k)
    bodies[2 * k - 1], bodies[2 * k] = message.id, number .. message.body
    places[2 * k - 1], places[2 * k] = message.due, number .. message.id
  end
  variadic("HSET", messages, bodies)
  variadic("ZADD", schedule, places)
  if largest > biggest or not layout then
    redis.call("HSET", state, "v", 1, "biggest", largest)
  end
  wake_write()
end
return { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #outcomes), unpack(dues)) }
