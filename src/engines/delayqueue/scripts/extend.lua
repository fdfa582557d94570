-- Moves the end of leases that are still held and not over to now plus `lease`.
-- KEYS: unack notes state waiting
-- ARGV: notAfter channel lease keep [id token]
-- Reply: {now, leaseUntil, outcomes}
local unack, notes, state, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, keep = ARGV[2], tonumber(ARGV[4])
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include held
--- @include drain
--- @include wake
local outcomes, held = held_of(5, 2, true)
local lease_until = now + math.ceil(tonumber(ARGV[3]))
if #held > 0 then
  -- The new end may be nearer than the old one, and nearer than the next look at what has ended.
  notify(lease_until)
end

drain(unack)
wake_write()
table.sort(held, function(a, b)
  return a.note.place < b.note.place
end)
local score, deadlines = first_place(lease_until), {}
for i, entry in ipairs(held) do
  entry.note.lease = score
  deadlines[2 * i - 1], deadlines[2 * i] = text_of(score), entry.id
  write_note(entry.id, entry.note, lease_until - now + keep)
  -- Those that end together keep the order that they had.
  score = score + step_at(score)
end
variadic("ZADD", unack, deadlines)
return { now_text, whole(lease_until), outcomes }
