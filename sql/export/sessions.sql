-- Grain: one row per current session, as the analyzer writes it: its times are those of the rows that are exported.
with
times as (
    select session_key, min(timestamp_utc) as first_utc, max(timestamp_utc) as last_utc
    from timeline
    where current and repeats_row_id is null
    group by all
)

select
    coalesce(sessions.host, '') as host,
    coalesce(sessions."user", '') as "user",
    sessions.agent,
    coalesce(sessions.session_id, '') as session_id,
    coalesce(sessions.project_path, '') as project_path,
    coalesce(strftime(times.first_utc, '%Y-%m-%dT%H:%M:%S.%gZ'), '') as first_timestamp_utc,
    coalesce(strftime(times.last_utc, '%Y-%m-%dT%H:%M:%S.%gZ'), '') as last_timestamp_utc,
    coalesce(sessions.models, []) as models,
    sessions.user_turns,
    sessions.assistant_turns,
    sessions.tool_calls,
    coalesce(sessions.source_file, '') as source_file,
from sessions
left join times using (session_key)
where sessions.current
order by times.first_utc nulls last, sessions.source_file, sessions.session_key
