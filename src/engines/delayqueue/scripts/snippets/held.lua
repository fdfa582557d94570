-- Held: the fence. Needs `unack`, `notes` (keys), and the snippets values, places and notes. Reads receipts from ARGV, from index
-- `from`, with `width` arguments each, of which id and token come first. Gives the letters for the reply (s: settled, l: lease
-- lost), and of each lease that is held its id, its note, and where its arguments begin.
--
-- A lease of ours has a note with its token, and the score that the note says. Whoever takes the message over, or makes it due
-- again, gives it another score: a program of the Go library a whole one, which ours never are. With `running`, a lease that
-- has ended is lost, too.
local function held_of(from, width, running)
  local ids, letters, held = {}, {}, {}
  for i = from, #ARGV, width do
    ids[#ids + 1] = ARGV[i]
  end
  local scores = #ids > 0 and redis.call("ZMSCORE", unack, unpack(ids)) or {}
  for i, value in ipairs(read_notes(ids)) do
    local at, note = from + (i - 1) * width, note_of(value)
    local is_ours = value and note.token == ARGV[at + 1] and scores[i] and tonumber(scores[i]) == note.lease
    if is_ours and not (running and end_at(note.lease) <= now) then
      letters[i] = "s"
      held[#held + 1] = { id = ids[i], note = note, at = at }
    else
      letters[i] = "l"
    end
  end
  return table.concat(letters), held
end
