-- Which tools are called, and how often do they fail? The rate is that of the calls that ran: errored, or an exit code but 0.
-- Of some calls nothing tells whether they ran.
with
judged as (
    select
        tool_name,
        tool_kind,
        agent,
        ran,
        ran and (status = 'errored' or coalesce(exit_code <> 0, false)) as failed,
        decision,
    from tool_calls
)

select
    tool_name,
    tool_kind,
    agent,
    count(*) as calls,
    count(*) filter (ran) as ran,
    count(*) filter (failed) as failed,
    count(*) filter (failed) / nullif(count(*) filter (ran), 0) as failure_rate,
    count(*) filter (not ran) as not_run,
    count(*) filter (ran is null) as not_known,
    count(*) filter (decision = 'denied') as denied,
    count(*) filter (decision = 'blocked') as blocked,
from judged
group by all
order by calls desc, tool_name nulls last, tool_kind, agent
