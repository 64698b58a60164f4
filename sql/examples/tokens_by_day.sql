-- How many tokens were used, and at what cost, by day and model?
select day, agent, model, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
    round(sum(cost_usd), 2) as cost_usd,
from tokens_used
group by all
order by day, agent, model
