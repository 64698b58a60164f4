-- Whose calls are denied by a person or blocked by a policy?
select
    "user",
    host,
    count(*) filter (decision = 'denied') as denied,
    count(*) filter (decision = 'blocked') as blocked,
    count(*) filter (decision = 'allowed') as allowed,
    count(*) filter (decision = 'unknown') as unknown,
    count(*) as calls,
    count(*) filter (decision in ('denied', 'blocked')) / count(*) as stopped_rate,
from tool_calls
group by all
having denied + blocked > 0
order by denied + blocked desc, denied desc, "user" nulls last, host nulls last
