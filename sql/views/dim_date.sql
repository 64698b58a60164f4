-- Grain: one row per day of the sessions and facts, and per day between them; facts join it on `day`.
with
known as (
    select event_utc::date as day from timeline
    union
    select utc::date from token_usage
    union
    select started_utc::date from sessions
),

-- A file's modification time, of which some rows have theirs, can be any: far days stand alone.
spans as (
    select min(day) as first_day, max(day) as last_day from known where day between '2020-01-01' and '2100-12-31'
),

days as (
    select unnest(generate_series(first_day, last_day, interval 1 day))::date as day from spans
    union
    select day from known where day is not null
)

select
    day,  -- Day (UTC).
    date_trunc('week', day)::date as week,  -- Monday of its week.
    date_trunc('month', day)::date as month,  -- First day of its month.
    date_trunc('quarter', day)::date as quarter,  -- First day of its quarter.
    year(day) as year,  -- Calendar year.
    isodow(day) as weekday,  -- 1 for Monday to 7 for Sunday.
    isodow(day) >= 6 as is_weekend,  -- Saturday or Sunday.
from days
