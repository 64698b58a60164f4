-- Grain: one row per message that repeats no other; joins `dim_session` on `session_key`.
select
    timeline.row_id,
    coalesce(
        timeline.session_key,
        concat(
            'none-',
            md5(concat(timeline.agent, chr(0) || 'h' || timeline.host, chr(0) || 'u' || timeline."user"))
        )
    ) as session_key,  -- Joins `dim_session`; never null.
    timeline.event_utc::date as day,  -- Day (UTC) by the best evidence; null where nothing tells.
    date_trunc('week', timeline.event_utc)::date as week,  -- Monday of that day's week.
    timeline.event_utc,
    coalesce(timeline.event_basis <> 'session', false) as has_own_time,  -- False: the day is that of the session's start.
    timeline.turn_type,
    timeline.turn_type = 'user' as is_prompt,  -- Whether a person said it.
    timeline.model,
    timeline.source,
    coalesce(
        try_cast(regexp_extract(timeline.text, '^len=([0-9]{1,12}) hmac=[0-9a-f]{32}$', 1) as bigint),
        length(timeline.text)
    ) as characters,  -- Length of the text (characters), in a share that of the text that it hides.
    timeline.recovered,
    coalesce(copies.copy > 1, false)
    or (
        sessions.forked_from is not null
        and timeline.home_path = sessions.home_path
        and timeline.source_line > 0
        and coalesce(timeline.source_line < sessions.forked_at_item, true)
    ) as is_copied,  -- Whether an earlier session holds it: the session is a copy, or a fork that begins with it.
    timeline.current,
from timeline
left join sessions on sessions.session_key = timeline.session_key
left join session_copies as copies on copies.session_key = timeline.session_key
where timeline.kind = 'message' and timeline.repeats_row_id is null
