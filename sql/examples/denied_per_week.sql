-- How many calls did people deny and policies block, by week, host and user?
-- What copies and forks of a session repeat is counted apart.
select
    calls.week,
    sessions.host,
    sessions.user,
    count(*) filter (calls.decision = 'denied' and calls.tool_kind = 'command' and not calls.is_copied)
        as denied_commands,
    count(*) filter (calls.decision = 'blocked' and calls.tool_kind = 'command' and not calls.is_copied)
        as blocked_commands,
    count(*) filter (calls.decision = 'denied' and calls.tool_kind <> 'command' and not calls.is_copied)
        as other_denied_calls,
    count(*) filter (calls.decision = 'blocked' and calls.tool_kind <> 'command' and not calls.is_copied)
        as other_blocked_calls,
    count(*) filter (calls.is_copied) as in_copies,
from fact_calls as calls
join dim_session as sessions using (session_key)
where calls.decision in ('denied', 'blocked')
group by all
order by calls.week, sessions.host, sessions.user
