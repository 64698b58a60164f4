-- Grain: one row per host, user, day, model and source of numbers. Of what one session states the first grain counts.
select
    host,
    "user",
    agent,
    facts.event_utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    facts.model,
    facts.grain,
    sum(facts.prompt_tokens) as prompt_tokens,
    sum(facts.completion_tokens) as completion_tokens,
    sum(facts.cache_read_tokens) as cache_read_tokens,
    sum(facts.cache_write_tokens) as cache_write_tokens,
    sum(facts.cost_usd) as cost_usd,
from fact_tokens as facts
join dim_session using (session_key)
group by all
