-- Which sessions are gone, and what is left of them?
select host, user, title, session_id, started_utc, deleted_between, in_index, user_turns, assistant_turns,
from sessions_deleted
order by host, user, started_utc
