-- What could not be read (losses), and what was odd but kept (notes)?
select
    reason,
    count(*) filter (lost) as losses,
    count(*) filter (not lost) as notes,
    count(distinct (host, source_file)) as files,
    count(distinct (host, "user")) as users,
    sum(bytes) filter (lost) as lost_bytes,
from problems
group by all
order by losses desc, notes desc, reason
