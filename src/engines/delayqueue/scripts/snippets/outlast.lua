-- Outlast: sees to it that a payload is there for `keep` ms after a new due time, as it was after the first one, unless an end
-- was given for it. Needs `messages` (key stem), `now`, the local `keep`, and the snippet values.
local function outlast(id, note, due)
  local left = due - now + keep
  if note.flags % 2 == 0 then
    local ttl = redis.call("PTTL", messages .. id)
    if ttl >= 0 and ttl < left then
      redis.call("PEXPIRE", messages .. id, whole(left))
    end
  end
  return left
end
