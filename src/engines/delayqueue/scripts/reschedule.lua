-- Gives messages that nobody works on another due time. Does as many as the lists allow, from the first.
-- KEYS: pending ready unack retry counts garbage messages notes state waiting
-- ARGV: notAfter channel keep [id kind when]
-- Reply: {now, outcomes}
--
-- `kind` and `when` as in snippets/due.lua. `outcomes` has a letter for each: r rescheduled, l leased, a absent. A lease that has
-- ended counts as reclaimed: its retry is used.
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, state, waiting = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local channel, keep = ARGV[2], tonumber(ARGV[3])
--- @include begin
--- @include values
--- @include places
--- @include place
--- @include notes
--- @include standing
--- @include lists
--- @include outlast
--- @include due
--- @include drain
--- @include wake
local outcomes, moved, earliest = {}, {}, math.huge
for i = 4, #ARGV, 3 do
  local id = ARGV[i]
  local standing, where, _, note = standing_of(id)
  if where == "list" then
    if not list_room() then
      break
    end
    list_steps = list_steps + list_length
  end
  outcomes[#outcomes + 1] = standing == "leased" and "l" or standing and "r" or "a"
  if standing == "waiting" then
    local due = due_of(ARGV[i + 1], ARGV[i + 2])
    moved[#moved + 1] = { id = id, where = where, due = due, note = note }
    earliest = math.min(earliest, due)
  end
end
if #moved > 0 then
  notify(earliest)
end

drain(unack, counts, pending)
wake_write()
list_steps = 0
local places, ended = {}, {}
for i, entry in ipairs(moved) do
  local id, note = entry.id, entry.note
  local place, known = place_at(entry.due), note.flags > 0 or note.count > 0 or note.lease > 0
  if entry.where == "unack" then
    note.count, known = note.count + 1, true
    redis.call("HINCRBY", counts, id, -1)
    ended[#ended + 1] = id
  elseif entry.where == "list" then
    leave_lists(id)
  end
  note.place, note.lease, note.token = place, 0, ""
  local lasts = outlast(id, note, entry.due)
  if known then
    write_note(id, note, lasts)
  end
  places[2 * i - 1], places[2 * i] = text_of(place), id
end
variadic("ZADD", pending, places)
variadic("ZREM", unack, ended)
return { now_text, table.concat(outcomes) }
