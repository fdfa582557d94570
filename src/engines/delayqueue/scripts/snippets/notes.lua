-- Notes: what we know of a message and the format has no place for. Needs `notes` (key stem), and the snippet values. Redis
-- forgets a note after its time, also when a program of the Go library has finished the message.
--
-- A note is: u8 flags, u32 deliveries that counted so far, f64 its place in `pending` (0: none), f64 the score of its lease in
-- `unack` (0: none), u16 and the token of that lease, u32 and the headers, f64 when it last failed, the error.
-- Flags: 1 it expires at the time given for it, 2 its limit of attempts is its own, 4 it has none, so the consumer's counts.
local function note_of(value)
  if not value then
    return { flags = 0, count = 0, place = 0, lease = 0, token = "", headers = "", failed_at = 0, failure = "" }
  end
  local note, rest = {}, 0
  note.flags, note.count, note.place, note.lease, note.token, note.headers, note.failed_at, rest =
    unpack_bytes(">BI4ddI2c0I4c0d", value)
  note.failure = sub(value, rest)
  return note
end

-- `duration`: how long it is kept, ms.
local function write_note(id, note, duration)
  local value = pack(">BI4ddI2c0I4c0d", note.flags, math.min(note.count, 4294967295), note.place, note.lease, #note.token,
    note.token, #note.headers, note.headers, note.failed_at) .. note.failure
  redis.call("SET", notes .. id, value, "PX", whole(math.max(duration, 1)))
end

-- The values of many, `false` where there is none.
local function read_notes(ids)
  local names = {}
  for i, id in ipairs(ids) do
    names[i] = notes .. id
  end
  return #names > 0 and redis.call("MGET", unpack(names)) or {}
end
