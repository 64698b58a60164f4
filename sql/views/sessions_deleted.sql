-- Grain: one row per session that is gone: a list or events name it and it has no file, or a later collection lacks it.
-- `sessions` can have two rows of one: its file, and what named it while there was none. The file's stands for both.
with
told as (
    select
        *,
        session_id is not null and bool_or(has_file) over (partition by host, "user", agent, session_id) as has_one,
    from sessions
)

select
    host,
    "user",
    agent,
    session_key,
    session_id,
    title,
    project_path,
    started_utc,
    started_basis,
    first_event_utc,
    last_event_utc,
    has_file,
    in_index,
    current,
    deleted_between,
    user_turns,
    assistant_turns,
    tool_calls,
from told
where case when has_file then deleted_between is not null else not has_one end
