-- Which calls were denied or blocked?
select event_utc, host, user, tool_name, decision, decision_reason,
    left(coalesce(command, file_path, arguments), 80) as what,
from calls_stopped
order by event_utc, host, user
