-- Fails for each file that rows name and `artifacts` lacks; a session of an empty folder names none.
with
named as (
    select distinct 'timeline' as name, home_path, source_file from timeline
    union all
    select distinct 'twins', home_path, source_file from twins
    union all
    select distinct 'sessions', home_path, source_file from sessions
    union all
    select distinct 'tool_calls', home_path, source_file from tool_calls
    union all
    select distinct 'context_items', home_path, source_file from context_items
    union all
    select distinct 'permissions', home_path, source_file from permissions
    union all
    select distinct 'token_usage', home_path, source_file from token_usage
    union all
    select distinct 'completions', home_path, source_file from completions
    union all
    select distinct 'problems', home_path, source_file from problems
)

select named.name, named.home_path
from named
anti join artifacts on artifacts.path = named.home_path
where named.source_file is not null
