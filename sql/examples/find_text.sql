-- Where was something said about a word?
select user, event_utc, turn_type, project_path, left(text, 80) as excerpt,
from timeline
where kind = 'message' and text ilike '%totals%'
order by event_utc, session_key, sequence
