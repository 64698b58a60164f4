-- Who talks to which assistant, and how much?
select host, user, agent, count(*) as sessions, sum(user_turns) as prompts, sum(assistant_turns) as replies,
    sum(tool_calls) as tool_calls, min(started_utc) as first_session, max(started_utc) as last_session,
from sessions
group by all
order by prompts desc, host, user
