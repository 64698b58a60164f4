-- What was decided about the calls? Allowed are those that ran, unknown those of which nothing tells.
select
    decision,
    decision_reason,
    count(*) as calls,
    count(*) / sum(count(*)) over () as share_of_calls,
    count(distinct session_key) as sessions,
    count(distinct (host, "user")) as users,
from tool_calls
group by all
order by calls desc, decision, decision_reason nulls last
