-- What may run without asking, since when, and how often did its tool run?
select permissions.user, permissions.rule, granted_utc, recorded_utc,
    count(tool_calls.call_key) as calls,
from permissions
left join tool_calls
    on tool_calls.host is not distinct from permissions.host
    and tool_calls.user is not distinct from permissions.user
    and tool_calls.tool_name = regexp_extract(permissions.rule, '^[^(]+')
    and tool_calls.ran
where scope = 'allow' and honoured
group by all
order by permissions.user, granted_utc
