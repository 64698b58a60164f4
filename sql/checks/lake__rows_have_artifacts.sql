-- Fails for each file that rows name and `artifacts` lacks; a session of an empty folder names none.
with
named as (
    select distinct 'timeline' as name, source_file from timeline
    union all
    select distinct 'twins', source_file from twins
    union all
    select distinct 'sessions', source_file from sessions
    union all
    select distinct 'tool_calls', source_file from tool_calls
    union all
    select distinct 'context_items', source_file from context_items
    union all
    select distinct 'permissions', source_file from permissions
    union all
    select distinct 'token_usage', source_file from token_usage
    union all
    select distinct 'completions', source_file from completions
    union all
    select distinct 'problems', source_file from problems
)

select named.name, named.source_file
from named
anti join artifacts using (source_file)
where named.source_file is not null
