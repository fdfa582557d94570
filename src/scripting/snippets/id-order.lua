-- Id order: as Redis sorts members, byte by byte; how Lua compares text depends on the server's locale. Needs values.
local function id_precedes(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end
