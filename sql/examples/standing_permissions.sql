-- Which standing permissions let commands through, since when?
select host, user, agent, scope, rule, value, granted_utc, recorded_utc,
from standing_permissions
order by host, user, granted_utc, rule
