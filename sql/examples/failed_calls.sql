-- Which tools fail, and which calls were canceled?
select tool_name, count(*) as calls, count(*) filter (status = 'done') as done,
    count(*) filter (status = 'errored') as errored, count(*) filter (status = 'canceled') as canceled,
from tool_calls
group by all
having errored + canceled > 0
order by errored + canceled desc, tool_name
