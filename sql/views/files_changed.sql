-- Grain: one row per host, user, project and file that finished edits changed.
select
    host,
    "user",
    agent,
    project_path,
    file_path,
    count(*) as edits,
    count(distinct session_key) as sessions,
    sum(lines_added) as lines_added,
    sum(lines_removed) as lines_removed,
    max(event_utc) as last_event_utc,
from tool_calls
where tool_kind in ('edit', 'write') and status = 'done' and file_path is not null
group by all
