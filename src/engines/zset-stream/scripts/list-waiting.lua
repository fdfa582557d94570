-- Finds messages that wait for the group, in order, after a place: in the schedule, in the stream, due again, and those
-- whose leases have ended.
-- KEYS: schedule stream queue leases again copies
-- ARGV: notAfter group from to limit after sequence state
-- Reply: {now, {id, due, sequence, …}, edge time, edge sequence}
--
-- `state`: scheduled, due, or any. `from` and `to`: due times. `after` and `sequence` are the place of the last one; empty
-- in the first call. From each of the four places come the first `limit`, so the first `limit` of all are among them, up to
-- the edge where there is one, else empty.
local schedule, stream, state, leases, again, copies = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local group, low, high, limit, after = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
--- @include begin
--- @include values
--- @include copies
--- @include rank

if ARGV[8] == "scheduled" then
  low = whole(math.max(tonumber(low), now + 1))
elseif ARGV[8] == "due" then
  high = whole(math.min(tonumber(high), now))
end
local found, edge_ms, edge_n = {}, "", ""
local function add(id, due, order)
  local n = #found
  found[n + 1], found[n + 2], found[n + 3] = id, due, order
end
local function order_of(text)
  return (unpack_bytes(">I7", text))
end
local last = after ~= "" and order_of(ARGV[7])
-- Nothing is known of what comes after the edge: a place of which not all were looked at has some that are passed over.
local function cut_at(ms, order)
  if edge_ms == "" or ms < tonumber(edge_ms) or (ms == tonumber(edge_ms) and order_of(order) < order_of(edge_n)) then
    edge_ms, edge_n = whole(ms), order
  end
end
local function read_zset(key, up_to)
  local first = redis.call("ZCOUNT", key, "-inf", "(" .. low)
  if last and tonumber(after) >= tonumber(low) then
    first = rank_after(key, tonumber(after), function(member)
      return order_of(member) <= last
    end)
  end
  return (entries_from(key, first, redis.call("ZCOUNT", key, "-inf", up_to), limit))
end
for _, key in ipairs({ schedule, again }) do
  local some = read_zset(key, high)
  for i = 1, #some, 2 do
    add(sub(some[i], 8), whole(tonumber(some[i + 1])), sub(some[i], 1, 7))
  end
end
local ended, ended_ids = read_zset(leases, whole(math.min(tonumber(high), now))), {}
for i = 1, #ended, 2 do
  ended_ids[#ended_ids + 1] = sub(ended[i], 8)
end
for i, value in ipairs(read_all(copies, ended_ids)) do
  local copy = value and copy_of(value)
  -- One that was the last attempt is dead.
  if copy and copy.count + 1 < copy.limit then
    add(ended_ids[i], whole(tonumber(ended[2 * i])), copy.order)
  end
end
if #ended_ids == limit then
  cut_at(tonumber(ended[2 * limit]), sub(ended[2 * limit - 1], 1, 7))
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
    cut_at(ms, pack(">I7", n))
  end
  for i, copy in ipairs(read_all(copies, ids)) do
    if not copy then
      add(ids[i], (string.match(entries[i][1], "^%d+")), sub(entries[i][2][2], 1, 7))
    end
  end
end
return { now_text, found, edge_ms, edge_n }
