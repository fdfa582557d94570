-- Body: what `messages` holds of a message, as src/scripting/message-body.ts writes it: seq(7) flags(1) [attempts u32: flag 1]
-- [expiresAt f64: flag 2] [length u32 + headers JSON: flag 4] payload. Big endian. Needs the snippet values.

-- When the message in `value` expires, or nil.
local function expiry_of(value)
  local flags = byte(value, 8)
  if flags % 4 < 2 then
    return nil
  end
  return (unpack_bytes(">d", value, 9 + flags % 2 * 4))
end
-- The limit of attempts that the message in `value` has of its own, or nil.
local function limit_of(value)
  if byte(value, 8) % 2 == 0 then
    return nil
  end
  return (unpack_bytes(">I4", value, 9))
end
-- A client sends all that follows seq, with the time to expiry in the place of `expiresAt`, since only this server knows
-- the due time it counts from. Gives what is to be stored after seq.
local function body_due(body, due)
  local flags = byte(body, 1)
  if flags % 4 < 2 then
    return body
  end
  local at = 2 + flags % 2 * 4
  return sub(body, 1, at - 1) .. pack(">d", due + unpack_bytes(">d", body, at)) .. sub(body, at + 8)
end
