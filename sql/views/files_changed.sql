-- Grain: one row per host, user, project and file that finished edits changed.
select
    host,
    "user",
    agent,
    project_path,
    file_path,
    count(*) as edits,  -- Finished edits and writes.
    count(distinct session_key) as sessions,  -- Sessions that changed it.
    sum(lines_added) as lines_added,  -- Lines that the edits added, in all.
    sum(lines_removed) as lines_removed,  -- Lines that the edits removed, in all.
    max(event_utc) as last_event_utc,  -- Time of the last edit (UTC) by the best evidence.
from tool_calls
where tool_kind in ('edit', 'write') and status = 'done' and file_path is not null
group by all
