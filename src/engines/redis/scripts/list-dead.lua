-- Reads dead letters in the order of their burial, after a place. Gives as many as fit into the budget of bytes.
-- KEYS: messages leases leased failures dead state
-- ARGV: notAfter from to limit after id
-- Reply: {now, [message], after, id}
--
-- A message is its id and then as in get. `after` (a time of burial) and `id` are the place of the last that was looked at;
-- empty in the first call, and in the reply when there are no more. Dead are also the messages whose leases have ended and
-- were their last attempt, as of the lease's end.
local messages, leases, leased, failures, dead, state = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include format
--- @include bodies
--- @include rank
--- @include id-order
--- @include failures
--- @include ended
--- @include page

local low, high, limit = tonumber(ARGV[2]), math.min(tonumber(ARGV[3]), now), tonumber(ARGV[4])
local after, after_id = tonumber(ARGV[5]), ARGV[6]
local function precedes(a, b)
  if a.score ~= b.score then
    return a.score < b.score
  end
  return id_precedes(a.id, b.id)
end
local function read(key, highest)
  local first
  if after and after >= low then
    first = rank_after(key, after, function(id)
      return not id_precedes(after_id, id)
    end)
  else
    first = redis.call("ZCOUNT", key, "-inf", "(" .. whole(low))
  end
  return entries_from(key, first, redis.call("ZCOUNT", key, "-inf", whole(highest)), limit)
end

local found, cut = read(dead, tonumber(ARGV[3]))
local buried = {}
for i = 1, #found, 2 do
  buried[#buried + 1] = { score = tonumber(found[i + 1]), id = found[i], tail = found[i] }
end
local some, ended_cut = read(leases, high)
local ended = ended_entries(some, true)
ended_cut = ended_cut or #ended < #some / 2
for _, entry in ipairs(ended) do
  entry.tail = entry.id
end
return page_of("dead", limit, precedes, buried, cut, ended, ended_cut)
