-- Removes messages that nobody works on. Does as many as the lists allow, from the first.
-- KEYS: pending ready unack retry counts garbage messages notes state
-- ARGV: notAfter [id]
-- Reply: {now, outcomes}
--
-- `outcomes` has a letter for each: c cancelled, l leased, a absent. A lease that has ended counts as reclaimed.
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, state = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include standing
--- @include lists
--- @include forget
--- @include drain
drain(unack, counts)
local outcomes, ids, others = {}, {}, {}
for i = 2, #ARGV do
  local id = ARGV[i]
  local standing, where = standing_of(id)
  if where == "list" and not list_room() then
    break
  end
  outcomes[#outcomes + 1] = standing == "leased" and "l" or standing and "c" or "a"
  -- What has no payload, or no retry left, is removed as well, but was no message any more.
  if standing ~= "leased" then
    ids[#ids + 1] = id
    others[id] = where == "elsewhere"
  end
  if where == "list" then
    leave_lists(id)
  end
end
forget(ids, others)
return { now_text, table.concat(outcomes) }
