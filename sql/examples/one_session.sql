-- What happened in a session, in order?
-- The rows of its own file come first, then what events and logs alone tell; what is gone since has `current` false.
select host, user, sequence, event_utc, turn_type, kind, tool_name, left(text, 80) as excerpt, current,
from timeline
where (session_id = $session or session_key = $session) and repeats_row_id is null
order by session_key, bool_or(kind = 'session') over (partition by session_key, source_file) desc, source_file, sequence
