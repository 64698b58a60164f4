-- Which sessions are gone, and what is left of them?
select user, title, session_id, started_utc, deleted_between, in_index, user_turns, assistant_turns,
from sessions_deleted
order by user, started_utc
