-- Report: tells the channel of events what was done, as the Go library does. Needs `now` and the local `events` (the channel;
-- empty: nobody asked). 1 new, 2 ready, 3 delivered, 4 acknowledged, 5 refused, 6 retried, 7 failed for good. It publishes, so
-- it comes before the first write.
local function report(code, count)
  if events ~= "" and count > 0 then
    redis.call("PUBLISH", events, string.format("%d %.0f %.0f", code, math.floor(now / 1000), count))
  end
end
