-- Walks the leases: each that is there from the first call to the last comes at least once.
-- KEYS: standing leases state
-- ARGV: notAfter cursor
-- Reply: {now, cursor for the next call or "0", {due, seq, id, …}}
local standing, leases, state = KEYS[1], KEYS[2], KEYS[3]
--- @include begin
--- @include values
--- @include records
local page = redis.call("ZSCAN", leases, ARGV[2], "COUNT", 250)
local ids, rows = {}, {}
for i = 1, #page[2], 2 do
  if tonumber(page[2][i + 1]) > now then
    ids[#ids + 1] = page[2][i]
  end
end
for i, value in ipairs(read_all(standing, ids)) do
  if value then
    local record = record_of(value)
    rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = whole(record.due), record.seq, ids[i]
  end
end
return { now_text, page[1], rows }
