-- Due: the due time that a client asked for, in whole ms. Needs `now` and `now_us`.
-- `kind` is "d" (a delay from now, ms) or "a" (a point in time); the past means now.
local function due_of(kind, value)
  local number = tonumber(value)
  local due
  if kind == "a" then
    due = math.ceil(number)
  elseif number > 0 then
    due = math.ceil(now_us / 1000 + number)
  else
    due = now
  end
  return math.min(math.max(due, now), 8.64e15)
end
