-- Who has the most of them? Of each home's newest collection alone (current).
select
    "user",
    host,
    agent,
    count(distinct (rule, value)) as rules,
    max(granted_utc) as last_granted_utc,
    max(recorded_utc) as last_recorded_utc,
from standing_permissions
group by all
order by rules desc, "user" nulls last, host nulls last, agent
