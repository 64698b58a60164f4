-- Fails for each key that a table holds twice.
with
keys as (
    select 'timeline' as name, row_id as key from timeline
    union all
    select 'timeline or twins', row_id from twins
    union all
    select 'timeline or twins', row_id from timeline
    union all
    select 'sessions', session_key from sessions
    union all
    select 'tool_calls', call_key from tool_calls
    union all
    select 'context_items', row_id from context_items
    union all
    select 'permissions', row_id from permissions
    union all
    select 'token_usage', row_id from token_usage
    union all
    select 'completions', row_id from completions
    union all
    select 'problems', row_id from problems
)

select name, key from keys group by all having count(*) > 1
