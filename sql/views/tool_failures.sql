-- Grain: one row per assistant and tool.
with
judged as (
    select
        *,
        ran and (status = 'errored' or coalesce(exit_code <> 0, false)) as failed,
    from tool_calls
)

select
    agent,
    tool_kind,
    tool_name,
    count(*) as calls,  -- Calls: `ran`, `not_run` and `not_known` add up to them.
    count(*) filter (ran) as ran,  -- Calls that ran.
    count(*) filter (not ran) as not_run,  -- Calls that were stopped, canceled, or in error before the tool began.
    count(*) filter (ran is null) as not_known,  -- Calls of which nothing tells whether they ran.
    count(*) filter (failed) as failures,  -- Calls that ran, and errored or ended with an exit code but 0.
    count(*) filter (decision = 'denied') as denied,  -- Calls that a person refused.
    count(*) filter (decision = 'blocked') as blocked,  -- Calls that a policy stopped.
    count(*) filter (failed) / nullif(count(*) filter (ran), 0) as failure_rate,  -- `failures` / `ran`; null if none ran.
from judged
group by all
