-- Grain: one row per row of the timeline that is a session's own: no event that repeats it, no turn that a fork copied,
-- nothing of a session whose messages are all those of an earlier one.
select timeline.*
from timeline
left join sessions on sessions.session_key = timeline.session_key
left join session_copies as copies on copies.session_key = timeline.session_key
where timeline.repeats_row_id is null
    and not coalesce(copies.copy > 1, false)
    and (
        sessions.forked_from is null
        or timeline.home_path is distinct from sessions.home_path
        or timeline.source_line = 0
        or timeline.source_line >= sessions.forked_at_item
    )
