-- How often do tools fail?
select agent, tool_name, calls, ran, failures, denied, blocked, round(100 * failure_rate, 1) as percent_failed,
from tool_failures
order by failures desc, calls desc, tool_name
