-- Grain: one row per session that is gone: a list or events name it and it has no file, or a later collection lacks it.
-- `sessions` can have two rows of one: the file that was there, and what still names it. Here the file's stands for both.
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
from sessions
where not has_file or not current
qualify has_file
    or session_id is null
    or not bool_or(has_file) over (partition by host, "user", agent, session_id)
