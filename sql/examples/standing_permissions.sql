-- Which standing permissions let commands through, since when?
select user, agent, scope, rule, value, granted_utc, recorded_utc,
from standing_permissions
order by user, granted_utc, rule
