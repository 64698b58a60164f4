-- Grain: one row per host, user, day and command that ran; of many a day that of their session is all that is known.
select
    host,
    "user",
    agent,
    coalesce(requested_utc, event_utc)::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    event_basis as day_basis,  -- What the day rests on, as `timeline.event_basis`.
    actor,
    command,
    count(*) as runs,  -- How often it ran.
    count(*) filter (exit_code <> 0 or status = 'errored') as failures,  -- Runs that errored or ended with an exit code but 0.
from tool_calls
where tool_kind = 'command' and ran and command <> ''
group by all
