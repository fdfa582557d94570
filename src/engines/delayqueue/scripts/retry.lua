-- Makes messages whose leases are still held due again, one retry used; gives those up that have none left.
-- KEYS: pending unack counts garbage messages notes state waiting
-- ARGV: notAfter channel events keep [id token delay error]
-- Reply: {now, outcomes, {id, …} given up, how many were given up so far}
--
-- Without a delay a message stays in `unack` with the time of now, as the Go library leaves it: whoever takes it next counts the
-- retry. With one it is pending, and the retry is counted here.
local pending, unack, counts, garbage = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local messages, notes, state, waiting = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local channel, events, keep = ARGV[2], ARGV[3], tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include places
--- @include place
--- @include notes
--- @include held
--- @include report
--- @include forget
--- @include give-up
--- @include outlast
--- @include due
--- @include drain
--- @include wake
local outcomes, held = held_of(5, 4)
-- Those that come due together keep the order that they had.
table.sort(held, function(a, b)
  return a.note.place < b.note.place
end)
local exhausted, at_once, later, earliest = {}, {}, {}, math.huge
for _, entry in ipairs(held) do
  local retries = tonumber(redis.call("HGET", counts, entry.id) or 0)
  entry.due = due_of("d", ARGV[entry.at + 2])
  -- One that fails without an error keeps the error before it.
  if ARGV[entry.at + 3] ~= "" then
    entry.note.failed_at, entry.note.failure = now, ARGV[entry.at + 3]
  end
  if retries <= 0 then
    exhausted[#exhausted + 1] = entry.id
  else
    local list = entry.due > now and later or at_once
    list[#list + 1] = entry
    entry.retries = retries - 1
    earliest = math.min(earliest, entry.due)
  end
end
if earliest < math.huge then
  notify(earliest)
end
report(5, #held)
report(6, #later)
report(7, #exhausted)

drain(unack, counts, pending)
wake_write()
local score, now_places, later_places, retries_left, ended = first_place(now), {}, {}, {}, {}
for i, entry in ipairs(at_once) do
  entry.note.place, entry.note.lease, entry.note.token = score, score, ""
  now_places[2 * i - 1], now_places[2 * i] = text_of(score), entry.id
  score = score + step_at(score)
  write_note(entry.id, entry.note, keep)
end
for i, entry in ipairs(later) do
  local note, place = entry.note, place_at(entry.due)
  note.count, note.place, note.lease, note.token = note.count + 1, place, 0, ""
  later_places[2 * i - 1], later_places[2 * i] = text_of(place), entry.id
  retries_left[2 * i - 1], retries_left[2 * i] = entry.id, whole(entry.retries)
  ended[i] = entry.id
  write_note(entry.id, note, outlast(entry.id, note, entry.due))
end
variadic("ZADD", unack, now_places)
variadic("HSET", counts, retries_left)
variadic("ZADD", pending, later_places)
variadic("ZREM", unack, ended)
forget(exhausted)
return { now_text, outcomes, exhausted, give_up(#exhausted) }
