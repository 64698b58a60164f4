-- What was said and stands in no session's file, but in a prompt history, a rating, a log or an event?
select timeline.host, timeline.user, timeline.event_utc, timeline.source, timeline.turn_type, left(timeline.text, 80) as excerpt,
from timeline
left join sessions using (session_key)
where timeline.kind = 'message'
    and timeline.repeats_row_id is null
    and (timeline.recovered or not coalesce(sessions.has_file, true))
order by timeline.host, timeline.user, timeline.event_utc
