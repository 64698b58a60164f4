-- What was found again, that no session holds any more? By the kind of file that still has it.
select
    source,
    turn_type,
    count(*) as rows,
    count(distinct (host, "user")) as users,
    min(event_utc) as first_utc,
    max(event_utc) as last_utc,
from timeline
where recovered and repeats_row_id is null
group by all
order by rows desc, source, turn_type
