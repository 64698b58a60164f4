-- Which commands ran, by host and day?
select day, day_basis, host, user, actor, runs, failures, left(command, 80) as command,
from commands_run
order by day, runs desc, command
