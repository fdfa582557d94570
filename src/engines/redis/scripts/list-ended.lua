-- Gives a part of the leases that ended in one ms and whose messages are due since, in the order of their ids: where these are
-- too many for list-waiting to put them in order.
-- KEYS: leases leased failures state
-- ARGV: notAfter time count after
-- Reply: {now, {id, sequence, …}, id}
--
-- The call goes on behind the id `after`, which is empty in the first; in the reply `id` is empty when there are no more.
local leases, leased, failures, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
--- @include begin
--- @include values
--- @include format
--- @include rank
--- @include id-order
--- @include failures
--- @include ended

local time, after_id = tonumber(ARGV[2]), ARGV[4]
local first = rank_after(leases, time, function(id)
  return not id_precedes(after_id, id)
end)
local found, more = entries_from(leases, first, redis.call("ZCOUNT", leases, "-inf", whole(time)), tonumber(ARGV[3]))
local rows, entries = {}, ended_entries(found, false)
more = more or #entries < #found / 2
for _, entry in ipairs(entries) do
  if not entry.skip then
    rows[#rows + 1] = entry.id
    rows[#rows + 1] = entry.seq
  end
end
return { now_text, rows, more and #entries > 0 and entries[#entries].id or "" }
