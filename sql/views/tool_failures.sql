-- Grain: one row per assistant and tool.
select
    agent,
    tool_kind,
    tool_name,
    count(*) as calls,
    count(*) filter (ran) as ran,
    count(*) filter (status = 'errored' or exit_code <> 0) as failures,
    count(*) filter (decision = 'denied') as denied,
    count(*) filter (decision = 'blocked') as blocked,
    count(*) filter ((status = 'errored' or exit_code <> 0) and ran) / nullif(count(*) filter (ran), 0) as failure_rate,
from tool_calls
group by all
