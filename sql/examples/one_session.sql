-- What happened in the busiest session, in order?
select sequence, turn_type, kind, tool_name, left(text, 80) as excerpt,
from timeline
where session_key = (select session_key from sessions order by tool_calls desc, session_key limit 1)
order by sequence
