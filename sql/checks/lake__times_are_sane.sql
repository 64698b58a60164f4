-- Fails for each time before 2020 or after 2100; the modification time of a file can be any.
with
times as (
    select 'timeline.timestamp_utc' as name, timestamp_utc as utc from timeline where timestamp_basis <> 'file'
    union all
    select 'timeline.event_utc', event_utc from timeline where event_basis <> 'file'
    union all
    select 'sessions.started_utc', started_utc from sessions where started_basis <> 'file'
    union all
    select 'tool_calls.requested_utc', requested_utc from tool_calls
    union all
    select 'tool_calls.finished_utc', finished_utc from tool_calls
    union all
    select 'token_usage.utc', utc from token_usage
    union all
    select 'completions.utc', utc from completions
    union all
    select 'permissions.granted_utc', granted_utc from permissions
)

select name, utc from times where utc < '2020-01-01' or utc >= '2101-01-01'
