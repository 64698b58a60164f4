-- Which standing rules and settings let commands run without asking, and in how many files? Of each home's newest collection alone (current).
select
    rule,
    value,
    scope,
    agent,
    count(distinct (host, source_file)) as files,
    count(distinct (host, "user")) as users,
    min(granted_utc) as first_granted_utc,
    max(recorded_utc) as last_recorded_utc,
from standing_permissions
group by all
order by users desc, files desc, rule, value nulls last, scope, agent
