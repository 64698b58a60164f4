-- Sessions by their start, prompts and calls by the best evidence of their time.
select
    date_trunc(getvariable('report_step'), day)::date as since,
    agent,
    sum(sessions) as sessions,
    sum(prompts) as prompts,
    sum(calls) as calls,
    sum(denied) as denied,
    sum(blocked) as blocked,
    sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens,
    round(sum(cost_usd), 6) as cost_usd,
from report_days
group by all
order by since nulls last, agent
