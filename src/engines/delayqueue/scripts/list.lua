-- Reads a page of the messages of one state, in the order of their scores and then of their ids.
-- KEYS: pending ready unack retry counts garbage messages notes state
-- ARGV: notAfter wanted from to limit [afterScore afterId bound]
-- Reply: {now, how many lie in lists, {message, …}, score and id of the last one that was looked at when there are more, bound}
--
-- `bound`, of leased messages: the latest end of a lease when the first page was read. Leases that are extended meanwhile go behind
-- it, or the pages would have no end while consumers work.
--
-- `wanted`: scheduled, due or leased. A message is as in snippets/read.lua. At most `limit` entries are looked at, and about 1 MiB.
local pending, ready, unack, retry, counts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local garbage, messages, notes, state = KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local wanted, from, to, limit = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local behind, bound = ARGV[6] and { score = tonumber(ARGV[6]), id = ARGV[7] }, tonumber(ARGV[8] or "")
--- @include begin
--- @include values
--- @include places
--- @include notes
--- @include standing
--- @include read
--- @include id-order
--- @include ranks

-- A score without a fraction is due up to 1 s after it, so a range of due times begins 1 s earlier.
local first, last = from / 1000 - 1, (to + 1) / 1000
local entries, more
if wanted == "scheduled" then
  entries, more = entries_of(pending, math.max(first, tonumber(this_second)), last, behind, limit)
elseif wanted == "leased" then
  bound = bound or tonumber(redis.call("ZREVRANGE", unack, 0, 0, "WITHSCORES")[2] or "0")
  entries, more = entries_of(unack, horizon, bound + step_at(bound), behind, limit)
else
  last = math.min(last, horizon)
  local others, more_others
  entries, more = entries_of(pending, first, last, behind, limit)
  others, more_others = entries_of(unack, first, last, behind, limit)
  entries, more = merged(entries, more, others, more_others, limit)
end

local page, bytes, place = {}, 0, nil
for i, entry in ipairs(entries) do
  bytes = bytes + bytes_of(entry.id)
  if bytes > 1048576 and i > 1 then
    more = true
    break
  end
  place = entry
  local message = read_message(entry.id)
  if message and message[2] == wanted and tonumber(message[4]) >= from and tonumber(message[4]) <= to then
    page[#page + 1] = message
  end
end
local listed = redis.call("LLEN", ready) + redis.call("LLEN", retry)
local score, id = more and place and text_of(place.score) or "", more and place and place.id or ""
return { now_text, listed, page, score, id, text_of(bound or 0) }
