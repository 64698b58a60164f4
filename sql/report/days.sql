-- What happened, per home user, assistant and day.
-- A time later than the newest collection (a day is granted, for local
-- clocks) is the work of a wrong clock: no day is known.
with
started as (
    select host, "user", agent, started_utc as at_utc, 1 as sessions from sessions
),

said as (
    select
        host,
        "user",
        agent,
        event_utc as at_utc,
        (turn_type = 'user')::int as prompts,
        (turn_type = 'assistant')::int as replies,
    from timeline
    where repeats_row_id is null and kind = 'message' and turn_type in ('user', 'assistant')
),

called as (
    select
        host,
        "user",
        agent,
        event_utc as at_utc,
        1 as calls,
        (decision = 'denied')::int as denied,
        (decision = 'blocked')::int as blocked,
    from tool_calls
),

used as (
    select
        host,
        "user",
        agent,
        day as at_utc,
        prompt_tokens,
        completion_tokens,
        cost_usd,
    from tokens_used
),

happened as (
    from started
    union all by name
    from said
    union all by name
    from called
    union all by name
    from used
),

known as (
    select coalesce(last_collected_utc + interval 1 day, 'infinity'::timestamp) as last_utc from report_collected
)

select
    host,
    "user",
    agent,
    case when at_utc <= last_utc then at_utc::date end as day,
    coalesce(sum(sessions), 0) as sessions,
    coalesce(sum(prompts), 0) as prompts,
    coalesce(sum(replies), 0) as replies,
    coalesce(sum(calls), 0) as calls,
    coalesce(sum(denied), 0) as denied,
    coalesce(sum(blocked), 0) as blocked,
    sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens,
    sum(cost_usd) as cost_usd,
from happened, known
group by all
