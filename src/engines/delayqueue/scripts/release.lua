-- Gives leases that are still held back, no retry used: due again after a delay, or in the old place without one.
-- KEYS: pending unack messages notes state waiting
-- ARGV: notAfter channel keep [id token delay]
-- Reply: {now, outcomes}
local pending, unack, messages, notes, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local channel, keep = ARGV[2], tonumber(ARGV[3])
--- @include begin
--- @include values
--- @include places
--- @include place
--- @include notes
--- @include held
--- @include outlast
--- @include due
--- @include drain
--- @include wake
local outcomes, held = held_of(4, 3)
table.sort(held, function(a, b)
  return a.note.place < b.note.place
end)
local earliest = math.huge
for _, entry in ipairs(held) do
  local delay = ARGV[entry.at + 2]
  entry.due = delay ~= "" and due_of("d", delay)
  earliest = math.min(earliest, entry.due or due_at(entry.note.place))
end
if #held > 0 then
  notify(earliest)
end

drain(unack, nil, pending)
wake_write()
local places, ended = {}, {}
for i, entry in ipairs(held) do
  local note, lasts = entry.note, keep
  if entry.due then
    note.place, lasts = place_at(entry.due), outlast(entry.id, note, entry.due)
  end
  note.lease, note.token = 0, ""
  places[2 * i - 1], places[2 * i] = text_of(note.place), entry.id
  ended[i] = entry.id
  write_note(entry.id, note, lasts)
end
variadic("ZADD", pending, places)
variadic("ZREM", unack, ended)
return { now_text, outcomes }
