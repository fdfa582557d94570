-- Outcome: what becomes of each candidate. Part of claim; only decides, and leaves the writes to it.
--
-- `moves`: what goes from `schedule` to the stream; `reads`: how many entries are read; `kept`: id → the copy that the group then
-- has, and in `owner` who is to have it in the list of pending entries; `void`: messages that are gone, with their entries.
local moves, reads, kept, adopted, void, void_entries = {}, 0, {}, {}, {}, {}
local left, left_again, left_leases, forgotten = {}, {}, {}, {}
local lease_pairs, dead_pairs, failure_pairs = {}, {}, {}
local function add(list, one, other)
  list[#list + 1] = one
  list[#list + 1] = other
end

local moved_places = {}
if #unread > 0 then
  local unread_ids = {}
  for i, one in ipairs(unread) do
    unread_ids[i] = one.id
  end
  for i, value in ipairs(read_all(moved, unread_ids)) do
    unread[i].due = value and moved_of(value).due or unread[i].ms
  end
end

local function bury(id, copy, reason, at)
  local error_at, _, error_json = failure_of(redis.call("HGET", failures, id))
  add(failure_pairs, id, failure_value(error_at, reason, error_json))
  add(dead_pairs, whole(at), id)
  add(buried_reply, id, reason)
  copy.token, copy.owner, copy.delivered = "", dead_owner, copy.count
end
for _, one in ipairs(last_ones) do
  -- Dead as of the end of its lease, as whoever looked in between was told.
  one.copy.count = one.copy.count + 1
  bury(one.id, one.copy, "attempts", one.due)
  left_leases[#left_leases + 1] = one.member
  kept[one.id] = one.copy
end
for _, one in ipairs(chosen) do
  if one.adopt then
    adopted[one.id] = one
  end
end
for _, one in ipairs(chosen) do
  local id, kind, copy, value = one.id, one.kind, one.copy, one.place and values[one.place]
  local is_read = kind == "u" or kind == "f"
  if one.adopt then
    -- The copy itself may be among the candidates, too.
    copy.ms, copy.n, copy.owner, copy.delivered = one.ms, one.n, waiting_owner, copy.count
    kept[id] = kept[id] or copy
  elseif not value or sub(value, 1, 7) ~= (copy and copy.seq or one.order) or (not is_read and not copy) then
    -- The body was evicted or deleted by hand, and perhaps the id scheduled anew: that one has entries of its own.
    missing[#missing + 1] = id
    one.is_gone = kind == "f"
    if copy or kind == "u" then
      void[#void + 1], void_entries[#void_entries + 1] = id, entry_id(copy or one)
    end
    forgotten[#forgotten + 1] = not is_read and id or nil
  else
    copy = copy or { order = one.order, seq = one.order, count = 0, lasting = false, ms = one.ms, n = one.n }
    copy.due, copy.token = one.due, ""
    if adopted[id] then
      copy.ms, copy.n = adopted[id].ms, adopted[id].n
    end
    if kind == "e" then
      -- As of the end of its lease, like one that is due again.
      copy.count = copy.count + 1
    end
    local expires = not copy.lasting and expiry_of(value)
    copy.limit = limit_of(value) or attempts
    local reason = expires and expires < now and "expired" or copy.count >= copy.limit and "attempts"
    if reason then
      bury(id, copy, reason, now)
    else
      give(id, one.due, value, copy.count)
      add(lease_pairs, until_text, copy.order .. id)
      copy.token = token
      -- What is read has this owner already.
      copy.owner, copy.delivered = not is_read and consumer, copy.count + 1
    end
    kept[id] = copy
  end
  if is_read and not one.is_gone then
    reads = reads + 1
  end
  if kind == "f" then
    left[#left + 1] = one.member
    if not one.is_gone then
      moves[#moves + 1] = one
    end
  elseif kind == "a" then
    left_again[#left_again + 1] = one.member
  elseif kind == "e" and (#lease_pairs == 0 or lease_pairs[#lease_pairs] ~= one.member) then
    left_leases[#left_leases + 1] = one.member
  end
end
