-- Which assistants are in use?
with
owned as (
    select agent, count(distinct (host, "user", home, place)) as homes from report_homes group by all
),

counted as (
    select
        agent,
        sum(sessions) as sessions,
        sum(prompts) as prompts,
        sum(replies) as replies,
        sum(calls) as calls,
        min(day) as first_day,
        max(day) as last_day,
    from report_days
    group by all
)

select agent, homes, sessions, prompts, replies, calls, first_day, last_day,
from owned
full join counted using (agent)
order by sessions desc nulls last, agent
