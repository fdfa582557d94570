-- Stores messages; one whose id exists is kept or replaced, as it says. Does as many as the lists allow, from the first.
-- KEYS: pending ready unack retry counts garbage messages notes state waiting
-- ARGV: notAfter channel events since keep [id mode when retries expiresIn flags headers payload]
-- Reply: {now, outcomes, dueAts}
--
-- Ids are distinct. `mode` is two letters: `a` or `d` as in snippets/due.lua, and `k` (keep) or `r` (replace). `since`: when an
-- attempt of this call was lost, the server's time at which it was first made; else empty. `keep`: how long a payload stays after
-- it is due, ms; `expiresIn` instead of it, where it is not empty. `flags` and `headers`: as in a note. `outcomes` has a
-- letter for each: s scheduled, d duplicate, r replaced, l leased; e: the id is taken elsewhere, by another queue or
-- another key; k: it names a key of this queue. `dueAts` an f64, as stored.
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, state, waiting = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local channel, events, since, keep = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
--- @include begin
--- @include values
--- @include places
--- @include place
--- @include notes
--- @include standing
--- @include lists
--- @include forget
--- @include report
--- @include due
--- @include wake

-- Whether a message that is there is the one that a lost attempt of this call stored, as far as its payload can tell.
local function is_from_lost(id, payload)
  return since and redis.call("STRLEN", messages .. id) == #payload and redis.call("GET", messages .. id) == payload
end

-- Whether a payload would have the name of another key of the queue. So it can be with a prefix that begins as payloads do.
local is_nested, ours = sub(pending, 1, #messages) == messages, sub(notes, 1, -#"note:" - 1)
local function names_key(name)
  local is_one = sub(name, 1, #ours) == ours
  for i = 1, #KEYS do
    is_one = is_one or KEYS[i] == name
  end
  return is_one
end

-- Mostly nothing is there of any of them: two commands say so.
local asked, names = {}, {}
for i = 6, #ARGV, 8 do
  asked[#asked + 1], names[#names + 1] = ARGV[i], messages .. ARGV[i]
end
local any_there, any_leased = redis.call("EXISTS", unpack(names)) > 0, false
for _, score in ipairs(redis.call("ZMSCORE", unack, unpack(asked))) do
  any_leased = any_leased or score
end

local outcomes, dues, fresh, ids, places, unlisted, stale_notes, earliest = {}, {}, {}, {}, {}, {}, {}, math.huge
for i = 6, #ARGV, 8 do
  local id, mode, n = ARGV[i], ARGV[i + 1], #outcomes + 1
  local standing, where, due, note
  if any_there or any_leased then
    standing, where, due, note = standing_of(id)
  end
  local is_key = is_nested and names_key(messages .. id)
  local replaces = sub(mode, 2) == "r"
  if is_key or where == "elsewhere" then
    outcomes[n], dues[n] = is_key and "k" or "e", 0
  elseif standing and (standing == "leased" or not replaces) then
    outcomes[n] = is_from_lost(id, ARGV[i + 7]) and "s" or replaces and "l" or "d"
    -- Keeping a message does not reclaim it.
    dues[n] = where == "unack" and note.place > 0 and due_at(note.place) or due
  else
    if where == "list" then
      if not list_room() then
        break
      end
      list_steps = list_steps + list_length
      unlisted[#unlisted + 1] = id
    end
    local place = place_at(due_of(sub(mode, 1, 1), ARGV[i + 2]))
    outcomes[n], dues[n] = standing and "r" or "s", due_at(place)
    fresh[#fresh + 1], ids[#ids + 1], stale_notes[#stale_notes + 1] = i, id, notes .. id
    places[#places + 1], places[#places + 2] = text_of(place), id
    earliest = math.min(earliest, dues[n])
  end
end

local reply = { now_text, table.concat(outcomes), pack(">" .. string.rep("d", #dues), unpack(dues)) }
if #fresh == 0 then
  return reply
end
notify(earliest)
report(1, #fresh)

-- Write. The first write is one that Redis refuses at its memory limit, so that nothing is stored by halves.
redis.call("ZADD", pending, "XX", 0, "")
if any_there or any_leased then
  forget(ids)
else
  -- What a payload that ended left behind: in `pending` and `retry:cnt` it is overwritten.
  redis.call("SREM", garbage, unpack(ids))
  redis.call("UNLINK", unpack(stale_notes))
end
list_steps = 0
for _, id in ipairs(unlisted) do
  leave_lists(id)
end
local retries = {}
for k, i in ipairs(fresh) do
  local id, due, expires_in = ARGV[i], dues[(i - 6) / 8 + 1], tonumber(ARGV[i + 4])
  local lasts = math.max(due - now + (expires_in or keep), 1)
  redis.call("SET", messages .. id, ARGV[i + 7], "PX", whole(lasts))
  -- Most have none: what has no note and a score of ours has no limit of its own, no headers, and the usual end.
  if ARGV[i + 5] ~= "4" or ARGV[i + 6] ~= "" then
    local note = note_of(false)
    note.flags, note.headers = tonumber(ARGV[i + 5]), ARGV[i + 6]
    write_note(id, note, lasts)
  end
  retries[2 * k - 1], retries[2 * k] = id, ARGV[i + 3]
end
variadic("HSET", counts, retries)
variadic("ZADD", pending, places)
if not layout then
  redis.call("HSET", state, "v", 1)
end
wake_write()
return reply
