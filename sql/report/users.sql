-- Who are the most active users? A user of several hosts has a row for each.
select
    "user",
    host,
    sum(sessions) as sessions,
    sum(prompts) as prompts,
    sum(calls) as calls,
    sum(denied) as denied,
    sum(blocked) as blocked,
    nullif(sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)), 0) as tokens,
    round(sum(cost_usd), 6) as cost_usd,
    max(day) as last_day,
from report_days
group by all
order by prompts desc, sessions desc, calls desc, "user" nulls last, host nulls last
