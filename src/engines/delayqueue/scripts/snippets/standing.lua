-- Standing: where a message is. Needs `pending`, `unack`, `counts`, `garbage`, `messages`, `notes` (keys), and the snippets places
-- and notes. A lease that has ended counts as reclaimed; after the last attempt, and without its payload, a message is gone.
--
-- Gives "waiting", "leased" or nil; where it is: "pending", "unack", or "list" for one of the lists, by elimination; when it
-- is due; its note. nil and "elsewhere": there is something under the name of its payload, and it is not of this queue, which
-- would count the retries of it. Queues of one name with different prefixes share the names of payloads.
local function standing_of(id)
  local there = redis.call("EXISTS", messages .. id) == 1
  local lease = tonumber(redis.call("ZSCORE", unack, id) or "")
  if not there and not lease then
    return nil
  end
  local note = note_of(redis.call("GET", notes .. id))
  if lease and end_at(lease) > now then
    return "leased", "unack", note.place > 0 and due_at(note.place) or now, note, lease
  elseif not there then
    return nil
  elseif lease then
    if tonumber(redis.call("HGET", counts, id) or 0) > 0 then
      return "waiting", "unack", end_at(lease), note
    end
    return nil
  end
  local place = redis.call("ZSCORE", pending, id)
  if place then
    return "waiting", "pending", due_at(tonumber(place)), note
  elseif redis.call("SISMEMBER", garbage, id) == 1 then
    return nil
  elseif redis.call("HEXISTS", counts, id) == 0 then
    return nil, "elsewhere"
  end
  -- A list says nothing of when its messages were due.
  return "waiting", "list", note.place > 0 and math.min(due_at(note.place), now) or now, note
end
