-- Grain: one row per session that begins with all messages of one that started earlier in the same home.
-- Key: session_key. Of several the longest holds, of these the earliest.
with
whole as (select * from talks qualify place = max(place) over (partition by session_key)),

-- Of sessions that say all the same the earliest is the one that any later one goes on.
earliest as (
    select distinct on (home, agent, place, so_far) *
    from whole
    where started_utc is not null and place >= 2 and prompts >= 1
    order by started_utc, session_key
),

copied as (
    select
        talks.session_key,
        earliest.session_key as forked_from,
        earliest.place,
        row_number() over (partition by talks.session_key order by earliest.place desc) as choice,
    from earliest
    join talks
        on talks.home = earliest.home
        and talks.agent = earliest.agent
        and talks.place = earliest.place
        and talks.so_far = earliest.so_far
        and talks.started_utc > earliest.started_utc
)

select copied.session_key, copied.forked_from, own.line as forked_at_item
from copied
left join talks as own on own.session_key = copied.session_key and own.place = copied.place + 1
where copied.choice = 1
