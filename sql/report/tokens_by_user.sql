-- Who uses the tokens, and at what cost?
select
    "user",
    host,
    sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cache_write_tokens) as cache_write_tokens,
    round(sum(cost_usd), 6) as cost_usd,
from tokens_used
group by all
order by cost_usd desc nulls last, prompt_tokens desc nulls last, "user" nulls last, host nulls last
