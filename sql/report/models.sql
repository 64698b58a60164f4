-- Which models answer, whom, and which ask for tools? A model is named as its session names it.
with
replied as (
    select model, agent, session_key, (host, "user") as person, 1 as replies
    from timeline
    where repeats_row_id is null and kind = 'message' and turn_type = 'assistant'
),

called as (
    select model, agent, session_key, (host, "user") as person, 1 as calls from tool_calls
),

counted as (
    from replied
    union all by name
    from called
)

select
    model,
    agent,
    coalesce(sum(replies), 0) as replies,
    coalesce(sum(calls), 0) as calls,
    count(distinct session_key) as sessions,
    count(distinct person) as users,
from counted
group by all
order by replies desc, calls desc, model nulls last, agent
