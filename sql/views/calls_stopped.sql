-- Grain: one row per call that a person denied or a policy blocked.
select
    event_utc,
    host,
    "user",
    agent,
    session_key,
    session_id,
    project_path,
    tool_name,
    tool_kind,
    command,
    file_path,
    arguments,
    decision,
    decision_reason,
    call_key,
from tool_calls
where decision in ('denied', 'blocked')
