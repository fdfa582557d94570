-- Deletes messages whose leases are still held. Does as many as their bodies allow, from the first.
-- KEYS: messages leases leased failures state gone
-- ARGV: notAfter [token count id…]
-- Reply: {now, outcomes}
local messages, leases, leased = KEYS[1], KEYS[2], KEYS[3]
local failures, state, gone = KEYS[4], KEYS[5], KEYS[6]
--- @include begin
--- @include values
--- @include bodies
--- @include drain
--- @include held
--- @include remember

local asked, tokens, n, at = {}, {}, 0, 2
while at <= #ARGV do
  local token, last = ARGV[at], at + 1 + ARGV[at + 1]
  for i = at + 2, last do
    n = n + 1
    asked[n], tokens[n] = ARGV[i], token
  end
  at = last + 1
end
local outcomes, ids = held_among(asked, tokens, fitting)
local any_failed = #ids > 0 and redis.call("HLEN", failures) > 0
drain(leases)
remember(ids)
variadic("HDEL", messages, ids)
if any_failed then
  variadic("HDEL", failures, ids)
end
variadic("HDEL", leased, ids)
-- Last, so that a lease is never without its end.
variadic("ZREM", leases, ids)
return { now_text, outcomes }
