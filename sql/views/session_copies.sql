-- Grain: one row per session whose messages are all those of another one: a backup, a synced home, a second collection.
select
    content_hash,
    row_number() over (
        partition by content_hash
        order by
            started_utc nulls last,
            host nulls last,
            "user" nulls last,
            file_id is distinct from session_id,
            session_key
    ) as copy,  -- 1 for the session that counts, the earliest; 2 and more for those that copy it.
    host,
    "user",
    agent,
    session_key,
    session_id,
    title,
    started_utc,
    source_file,
from sessions
where content_hash is not null
qualify count(*) over (partition by content_hash) > 1
