-- Grain: one row per row of the timeline that is a session's own: no event that repeats it, no turn that a fork copied,
-- nothing of a session whose messages are all those of an earlier one.
with
copies as (
    select
        session_key,
        row_number() over (
            partition by content_hash
            order by
                started_utc nulls last,
                host nulls last,
                "user" nulls last,
                file_id is distinct from session_id,
                session_key
        ) > 1 as is_copy,
    from sessions
    where content_hash is not null
)

select timeline.*
from timeline
left join sessions on sessions.session_key = timeline.session_key
left join copies on copies.session_key = timeline.session_key
where timeline.repeats_row_id is null
    and not coalesce(copies.is_copy, false)
    and (
        sessions.forked_from is null
        or timeline.home_path is distinct from sessions.home_path
        or timeline.source_line = 0
        or timeline.source_line >= sessions.forked_at_item
    )
