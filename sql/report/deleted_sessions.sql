-- Which sessions are gone? Newest first; the two times are those of the last collection that had it and of the next.
select
    title,
    "user",
    host,
    agent,
    started_utc,
    deleted_between[1] as last_held_utc,
    deleted_between[2] as first_lacked_utc,
    user_turns as prompts,
    tool_calls as calls,
    session_id,
from sessions_deleted
order by coalesce(started_utc, last_event_utc) desc nulls last, "user" nulls last, host nulls last, session_key
