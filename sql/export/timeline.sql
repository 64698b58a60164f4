-- Grain: one row per current row of the timeline that repeats no other, as the analyzer writes it: undated ones last.
select
    coalesce(strftime(timestamp_utc, '%Y-%m-%dT%H:%M:%S.%gZ'), '') as timestamp_utc,
    coalesce(host, '') as host,
    coalesce("user", '') as "user",
    agent,
    coalesce(session_id, '') as session_id,
    coalesce(project_path, '') as project_path,
    coalesce(git_branch, '') as git_branch,
    turn_type,
    coalesce(model, '') as model,
    coalesce(tool_name, '') as tool_name,
    coalesce(tool_use_id, '') as tool_use_id,
    text,
    coalesce(source_file, '') as source_file,
    source_line,
from timeline
where current and repeats_row_id is null
order by timeline.timestamp_utc nulls last, timeline.source_file, source_line, sequence, row_id
