-- Grain: one row per message of a session's own files. Key: session_key, place. `so_far` tells the talk up to it.
with
messages as (
    select
        sessions.home,
        sessions.agent,
        sessions.session_key,
        coalesce(sessions.session_utc, sessions.mtime_utc) as started_utc,
        row_number() over (partition by sessions.session_key order by rows.artifact, rows.sequence) as place,
        rows.line,
        rows.turn_type,
        sha256(concat(rows.turn_type, chr(0), rows.text)) as said,
    from rows
    join session_places as sessions using (artifact)
    where rows.kind = 'message'
)

select
    home,
    agent,
    session_key,
    started_utc,
    place,
    line,
    said,
    sum(hash(said, place)::hugeint) over talk as so_far,
    count(*) filter (turn_type = 'user') over talk as prompts,
from messages
window talk as (partition by session_key order by place)
