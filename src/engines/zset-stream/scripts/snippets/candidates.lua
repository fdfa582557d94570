-- Candidates: what the group may deliver now, in due order, from four places. Part of claim. Gives `chosen`, the first of them,
-- and `values`, what they have in `messages`, by `place`.
--
-- Kinds: "u", an entry that the group has not read yet; "f", a message that is still in `schedule`; "a", one that is due again;
-- "e", one whose lease has ended. The first two lie in the order of the stream, so what is chosen of them are the next entries to
-- be read. `adopt`: an entry of a message of which the group has a copy already; it is read, and is no delivery.
-- `last_ones`: leases that ended on the last attempt; they are buried, whatever the limit.
local unread, fresh, due_again, ended, last_ones = {}, {}, {}, {}, {}
local more_unread = false
local function read_range(key, kind, list, most)
  local found = redis.call("ZRANGEBYSCORE", key, "-inf", now, "WITHSCORES", "LIMIT", 0, most)
  for i = 1, #found, 2 do
    local order, due = sub(found[i], 1, 7), tonumber(found[i + 1])
    list[#list + 1] = { kind = kind, ms = due, n = (unpack_bytes(">I7", order)), id = sub(found[i], 8), order = order,
      due = due, member = found[i] }
  end
end
local function own_copies(list)
  local ids = {}
  for i, one in ipairs(list) do
    ids[i] = one.id
  end
  for i, value in ipairs(read_all(copies, ids)) do
    list[i].copy = value and copy_of(value)
  end
end

local all_ended = {}
read_range(leases, "e", all_ended, math.max(limit, 100))
own_copies(all_ended)
for _, one in ipairs(all_ended) do
  local copy = one.copy
  if copy and copy.count + 1 >= copy.limit and redis.call("HSTRLEN", messages, one.id) > 0 then
    last_ones[#last_ones + 1] = one
  elseif #ended < limit and not paused then
    ended[#ended + 1] = one
  end
end
if limit > 0 and not paused then
  local top_ms, top_n = delivered.ms, delivered.n
  for i, entry in ipairs(redis.call("XRANGE", stream, "(" .. entry_id(delivered), "+", "COUNT", limit)) do
    local member = entry[2][2]
    top_ms, top_n = entry_of(entry[1])
    unread[i] = { kind = "u", ms = top_ms, n = top_n, id = sub(member, 8), order = sub(member, 1, 7) }
  end
  more_unread = #unread == limit
  if not more_unread then
    read_range(schedule, "f", fresh, limit)
  end
  read_range(again, "a", due_again, limit)
  if #fresh > 0 then
    -- The id of an entry is the due time and the sequence number, where that comes behind the last entry: not when the clock
    -- stepped back, or a message was made due in the ms of one that was moved.
    top_ms, top_n = entry_of(described(redis.call("XINFO", "STREAM", stream))["last-generated-id"])
    for _, one in ipairs(fresh) do
      if not is_after(one.ms, one.n, top_ms, top_n) then
        one.ms, one.n = top_ms, top_n + 1
      end
      top_ms, top_n = one.ms, one.n
    end
  end
end

own_copies(unread)
own_copies(due_again)
-- Usually no group has a copy of what is still in `schedule`: only when it lay in a stream that was deleted.
if redis.call("EXISTS", copies) == 1 then
  own_copies(fresh)
end

local chosen, ids, sources, at = {}, {}, { unread, fresh, due_again, ended }, { 1, 1, 1, 1 }
while #ids < limit do
  local best, from
  for i = 1, 4 do
    local one = sources[i][at[i]]
    if one and not (best and not is_after(best.ms, best.n, one.ms, one.n)) then
      best, from = one, i
    end
  end
  if not best then
    break
  end
  at[from] = at[from] + 1
  chosen[#chosen + 1] = best
  best.adopt = best.copy and from < 3
  if not best.adopt then
    ids[#ids + 1] = best.id
    best.place = #ids
  end
end
local values = read_bodies(ids)
while #chosen > 0 and (chosen[#chosen].place or 0) > #values do
  chosen[#chosen] = nil
end
