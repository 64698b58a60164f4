-- When the lake's homes were collected, and how often.
select
    count(*) as collections,
    min(collected_utc) as first_collected_utc,
    max(collected_utc) as last_collected_utc,
from collections
