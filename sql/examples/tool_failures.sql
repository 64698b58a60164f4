-- How often do tools fail, of the calls that ran?
select agent, tool_name, calls, ran, not_run, not_known, failures, round(100 * failure_rate, 1) as percent_failed,
    denied, blocked,
from tool_failures
order by failures desc, calls desc, tool_name
