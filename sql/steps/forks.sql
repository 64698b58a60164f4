-- Grain: one row per session that begins with all messages of one that started earlier in the same home.
-- Key: session_key. Of several the longest holds, of these the earliest.
with
whole as (select * from talks qualify place = max(place) over (partition by session_key)),

copied as (
    select
        talks.session_key,
        whole.session_key as forked_from,
        whole.place,
        row_number() over (
            partition by talks.session_key order by whole.place desc, whole.started_utc, whole.session_key
        ) as choice,
    from whole
    join talks
        on talks.home = whole.home
        and talks.agent = whole.agent
        and talks.place = whole.place
        and talks.so_far = whole.so_far
        and talks.started_utc > whole.started_utc
    where whole.place >= 2 and whole.prompts >= 1
)

select copied.session_key, copied.forked_from, own.line as forked_at_item
from copied
left join talks as own on own.session_key = copied.session_key and own.place = copied.place + 1
where copied.choice = 1
