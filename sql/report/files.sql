-- What became of the assistants' files? Known ones are not read, secret ones never opened.
select
    status,
    agent,
    count(*) as files,
    sum(records) as records,
    sum(losses) as losses,
    sum(bytes) as bytes,
from artifacts
group by all
order by files desc, status, agent
