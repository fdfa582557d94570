-- From lost: whether a message that is there, due at `due`, may be what a lost attempt of this call stored, by its due time. Needs
-- `since`, the server's time at which the call was first made, at the latest, and the snippet due. Its body alone would not say
-- so: a replace that changes only the due time has the body that was there.
local function is_from_lost(due, kind, when)
  local earliest = kind == "a" and math.max(when, since) or since + math.max(when, 0)
  return due >= math.min(earliest, 8.64e15) and due <= due_of(kind, when)
end
