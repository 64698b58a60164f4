-- How much is there?
with
counted as (
    select
        sum(sessions) as sessions,
        sum(prompts) as prompts,
        sum(replies) as replies,
        sum(calls) as calls,
        sum(denied) as denied,
        sum(blocked) as blocked,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        round(sum(cost_usd), 6) as cost_usd,
        min(day) as first_day,
        max(day) as last_day,
    from report_days
),

daily as (
    select day, sum(sessions + prompts + replies + calls) as events from report_days where day is not null group by day
),

-- From this day on lie 99 of 100 events: a stray one, years before the others, stretches no chart.
spread as (
    select max(day) as usual_from
    from (
        select day, sum(events) over (order by day) - events as before, sum(events) over () as whole from daily
    )
    where before <= whole / 100
),

owned as (
    select
        count(distinct (host, "user", home, place)) as homes,
        count(distinct "user") as users,
        count(distinct host) as hosts,
        count(distinct (host, "user", home, place)) filter (host is null) as homes_without_host,
    from report_homes
)

select
    homes,
    users,
    hosts,
    homes_without_host,
    sessions,
    prompts,
    replies,
    calls,
    denied,
    blocked,
    prompt_tokens,
    completion_tokens,
    cost_usd,
    first_day,
    last_day,
    usual_from,
from owned, counted, spread
