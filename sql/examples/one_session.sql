-- What happened in a session, in order?
select sequence, event_utc, turn_type, kind, tool_name, left(text, 80) as excerpt,
from timeline
where session_id = $session or session_key = $session
order by session_key, source_file, sequence
