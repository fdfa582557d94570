-- Due: the due time that a client asked for, in whole ms. Needs `now` and `now_us`.
-- `kind` is "d" (a delay from now, ms) or "a" (a point in time); the past means now.
local function due_of(kind, value)
  local due = tonumber(value)
  if kind == "d" then
    due = due > 0 and now_us / 1000 + due or now
  end
  -- Compared, since each call of a function costs a schedule more than that.
  if due % 1 > 0 then
    due = math.ceil(due)
  end
  if due < now then
    return now
  end
  return due < 8.64e15 and due or 8.64e15
end
