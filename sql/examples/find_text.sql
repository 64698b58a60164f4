-- Where was something said about a word?
select host, user, event_utc, turn_type, session_id,
    substr(text, greatest(1, strpos(lower(text), lower($word)) - 30), 80) as excerpt,
from timeline
where kind = 'message' and repeats_row_id is null and contains(lower(text), lower($word))
order by event_utc, session_key, sequence
