-- How many tokens were used, by day and model? Of each session the first grain there is counts.
with
ranked as (
    select *, list_position(['request', 'reply', 'task'], grain)
        = min(list_position(['request', 'reply', 'task'], grain)) over (partition by session_key) as counts,
    from token_usage
)

select agent, model, event_utc::date as day, sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens, sum(cost_usd) as cost_usd,
from ranked
where counts or session_key is null
group by all
order by day, agent, model
