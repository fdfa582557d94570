-- Places: due times as scores, seconds with a fraction. Needs `now`.
--
-- The Go library cuts the fraction off what it writes, so a score without one stands for any time in its second: it is due at
-- the end of that. A score of ours always has one. Behind the ms it says the place among those of one ms, in the steps that a
-- double can take: about 4,190 until 2038, half as many after that. Scores are written with all digits of a double.
local function text_of(score)
  return string.format("%.17g", score)
end
local function step_at(score)
  local _, exponent = math.frexp(score)
  return math.ldexp(1, exponent - 53)
end
local function first_place(ms)
  local score = ms / 1000
  return score + step_at(score)
end

-- When what is pending with this score is due, ms.
local function due_at(score)
  local is_whole = score == math.floor(score)
  return math.min(is_whole and score * 1000 + 1000 or math.floor(score * 1000), 8.64e15)
end
-- When the lease with this score in `unack` ends, ms. A whole second is its end for the Go library, too.
local function end_at(score)
  return math.floor(score * 1000)
end

-- Scores below this one are of this ms or earlier.
local horizon = (now + 1) / 1000
local passed, to_come = "(" .. text_of(horizon), text_of(horizon)
-- The second that is not over: what is pending with its score is not due.
local this_second = string.format("%.0f", math.floor(now / 1000))
local before_second, in_second = "(" .. this_second, "(" .. this_second
