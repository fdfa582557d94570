-- Mismatch: what is wrong with each id, and what mends it. Part of audit-check.
for i, id in ipairs(ids) do
  local value, lease, place = values[i], tokens[i], own_at[i]
  local scheduled, leased_now, half = given_at[i] and given[i] ~= own[i], ends[i] and lease, ends[i] or lease
  if leased_now then
    half = false
  end
  if not value then
    -- Nobody can be given what is not there.
    if scheduled then
      tell(i, "schedule-without-message")
      unscheduled[#unscheduled + 1] = given[i]
    end
    if leased_now or half then
      tell(i, "lease-without-message")
      unleased[#unleased + 1] = id
    end
    if buried_at[i] then
      tell(i, "dead-without-message")
      unburied[#unburied + 1] = id
    end
    if failed[i] then
      tell(i, "failure-without-message")
      forgotten[#forgotten + 1] = id
    end
  else
    if scheduled then
      tell(i, "schedule-stale")
      unscheduled[#unscheduled + 1] = given[i]
    end
    if half then
      tell(i, lease and "fence-without-lease" or "lease-without-fence")
      unleased[#unleased + 1] = id
      if not place and not buried_at[i] then
        -- As a reclaim would. When that was the last attempt the next claim buries it: here the limit may be unknown.
        local count, error_at, _, _, error_json = failure_of(failed[i])
        add(records, id, failure_value(count + 1, error_at, 0, "", error_json))
        add(places, now, own[i])
      end
    elseif leased_now and sub(lease, 1, 7) ~= sub(value, 1, 7) then
      -- Given back, it would go to a place that is not its own.
      tell(i, "lease-stale")
      add(fences, id, sub(value, 1, 7) .. sub(lease, 8))
    end
    if not place and not leased_now and not half and not buried_at[i] then
      tell(i, "message-without-index")
      add(places, now, own[i])
    elseif (place and leased_now) or (buried_at[i] and (place or leased_now)) then
      -- Whoever works on it goes on; and what is to be delivered is no dead letter.
      tell(i, "message-in-two-indexes")
      if place and leased_now then
        unscheduled[#unscheduled + 1] = own[i]
      end
      if buried_at[i] then
        unburied[#unburied + 1] = id
      end
    elseif buried_at[i] and not failed[i] then
      tell(i, "dead-without-failure")
      add(records, id, failure_value(0, 0, tonumber(buried_at[i]), "unknown", ""))
    end
  end
end
