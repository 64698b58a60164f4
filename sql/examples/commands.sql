-- Which commands ran, when, and who let them?
select event_utc, user, actor, decision, exit_code, left(command, 80) as command,
from tool_calls
where tool_kind = 'command' and ran
order by event_utc, sequence
