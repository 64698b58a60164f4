-- Grain: one row per host, user, day and command that ran; of many a day that of their session is all that is known.
select
    host,
    "user",
    agent,
    coalesce(requested_utc, event_utc)::date as day,
    event_basis as day_basis,
    actor,
    command,
    count(*) as runs,
    count(*) filter (exit_code <> 0 or status = 'errored') as failures,
from tool_calls
where tool_kind = 'command' and ran and command <> ''
group by all
