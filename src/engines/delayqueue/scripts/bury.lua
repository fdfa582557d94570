-- Gives messages whose leases are still held up for good: the format has no dead letters.
-- KEYS: pending unack counts garbage messages notes state
-- ARGV: notAfter events [id token]
-- Reply: {now, outcomes, {id, …} given up, how many were given up so far}
local pending, unack, counts, garbage = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local messages, notes, state = KEYS[5], KEYS[6], KEYS[7]
local events = ARGV[2]
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include held
--- @include report
--- @include forget
--- @include give-up
--- @include drain
local outcomes, held = held_of(3, 2)
local ids = {}
for i, entry in ipairs(held) do
  ids[i] = entry.id
end
report(7, #ids)
drain(unack, counts)
forget(ids)
return { now_text, outcomes, ids, give_up(#ids) }
