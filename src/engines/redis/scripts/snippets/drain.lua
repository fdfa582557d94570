-- Drain: at its memory limit Redis refuses a script at its first write, unless that is a command that frees memory; after
-- one, even one that removes nothing, all that follows runs. No member of `schedule` is empty.
redis.call("ZREM", schedule, "")
