-- Grain: one row per host, user, day and command that ran.
select
    host,
    "user",
    agent,
    coalesce(requested_utc, event_utc)::date as day,
    actor,
    command,
    count(*) as runs,
    count(*) filter (exit_code <> 0 or status = 'errored') as failures,
from tool_calls
where tool_kind = 'command' and ran
group by all
