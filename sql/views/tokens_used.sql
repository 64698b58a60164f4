-- Grain: one row per host, user, day, model and source of numbers. Of what one session states the first grain counts.
with
counted as (
    select
        *,
        list_position(['request', 'reply', 'task'], grain) as place,
        min(list_position(['request', 'reply', 'task'], grain)) over (partition by session_key) as first_place,
    from token_usage
)

select
    host,
    "user",
    agent,
    event_utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    model,
    grain,
    sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    sum(cost_usd) as cost_usd,
from counted
where session_key is null or place = first_place
group by all
