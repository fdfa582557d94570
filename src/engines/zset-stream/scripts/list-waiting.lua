-- Finds messages that wait for the group, in order, after a place: in the schedule, in the stream, and due again.
-- KEYS: schedule stream queue again copies
-- ARGV: notAfter group from to limit after sequence
-- Reply: {now, {id, due, sequence, …}, edge time, edge sequence}
--
-- `from` and `to`: due times. `after` and `sequence` are the place of the last one; empty in the first call. From each of the three
-- places come the first `limit`, so the first `limit` of all are among them, up to the edge where there is one, else empty.
local schedule, stream, state, again, copies = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local group, low, high, limit, after = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
--- @include begin
--- @include values
--- @include copies
--- @include rank

local found, edge_ms, edge_n = {}, "", ""
local function add(id, due, order)
  local n = #found
  found[n + 1], found[n + 2], found[n + 3] = id, due, order
end
local function order_of(text)
  return (unpack_bytes(">I7", text))
end
local last = after ~= "" and order_of(ARGV[7])
for _, key in ipairs({ schedule, again }) do
  local first = redis.call("ZCOUNT", key, "-inf", "(" .. low)
  if last and tonumber(after) >= tonumber(low) then
    first = rank_after(key, tonumber(after), function(member)
      return order_of(member) <= last
    end)
  end
  local some = entries_from(key, first, redis.call("ZCOUNT", key, "-inf", high), limit)
  for i = 1, #some, 2 do
    add(sub(some[i], 8), whole(tonumber(some[i + 1])), sub(some[i], 1, 7))
  end
end

-- Entries are in due order, and have the due time and the sequence number as their id, but where the clock stepped back.
local delivered = tonumber(low) <= now and stream_groups()[group]
if delivered then
  local ms, n = tonumber(low), 0
  if last and tonumber(after) >= ms then
    ms, n = tonumber(after), last + 1
  end
  local from = is_after(ms, n, delivered.ms, delivered.n) and entry_id({ ms = ms, n = n }) or "(" .. entry_id(delivered)
  local ids, entries = {}, redis.call("XRANGE", stream, from, high .. "-18446744073709551615", "COUNT", limit)
  for i, entry in ipairs(entries) do
    ids[i] = sub(entry[2][2], 8)
  end
  -- Those of which the group has a copy are found by it, so fewer may come from here.
  if #entries == limit then
    local ms, n = entry_of(entries[limit][1])
    edge_ms, edge_n = whole(ms), pack(">I7", n)
  end
  for i, copy in ipairs(read_all(copies, ids)) do
    if not copy then
      add(ids[i], (string.match(entries[i][1], "^%d+")), sub(entries[i][2][2], 1, 7))
    end
  end
end
return { now_text, found, edge_ms, edge_n }
