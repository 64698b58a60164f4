-- Grain: one row per event of an exchange that an item of a session is the reply of. Key: event_artifact, event_record.
-- Session, prompt and completion tell them: n items and n events pair in order, else the earliest two alone.
-- An item that keeps no prompt is known by its text. Of several files of one session that of its name comes first.
with
events as (
    select places.home, places.agent, exchanges.*
    from exchanges
    join places using (artifact)
    where exchanges.session_id is not null
),

-- An event names a session by its id; a copied file, which keeps the id of its source, by the name of the file.
named as (
    select artifact, home, agent, session_id, session_name = session_id as is_own from session_places
    union all
    select sessions.artifact, home, agent, sessions.session_name, true
    from session_places as sessions
    join file_names as names using (home, agent)
    where names."name" = sessions.session_name
),

kept as (
    select sessions.home, sessions.agent, sessions.session_id, sessions.is_own, logs.artifact, logs.line, logs.exchange
    from prompt_logs as logs
    join named as sessions using (artifact)
    where logs.exchange is not null
),

counted_events as (
    select
        *,
        row_number() over (
            partition by home, agent, session_id, exchange order by utc nulls last, artifact, record
        ) as place,
        count(*) over (partition by home, agent, session_id, exchange) as many,
    from events
    where exchange is not null
),

counted_items as (
    select
        *,
        row_number() over (partition by home, agent, session_id, exchange order by is_own desc, artifact, line) as place,
        count(*) over (partition by home, agent, session_id, exchange) as many,
    from kept
),

by_prompt as (
    select items.artifact, items.line, events.artifact as event_artifact, events.record as event_record, events.utc
    from counted_items as items
    join counted_events as events using (home, agent, session_id, exchange, place)
    where items.many = events.many or place = 1
),

spoken as (
    select
        sessions.home, sessions.agent, sessions.session_id, sessions.is_own, rows.artifact, rows.line, rows.text as reply
    from rows
    join named as sessions using (artifact)
    anti join prompt_logs as logs on logs.artifact = rows.artifact and logs.line = rows.line
    where rows.kind = 'message' and rows.turn_type = 'assistant'
),

left_events as (
    select
        *,
        row_number() over (partition by home, agent, session_id, reply order by utc nulls last, artifact, record)
            as place,
        count(*) over (partition by home, agent, session_id, reply) as many,
    from events
    anti join by_prompt on by_prompt.event_artifact = events.artifact and by_prompt.event_record = events.record
),

left_items as (
    select
        *,
        row_number() over (partition by home, agent, session_id, reply order by is_own desc, artifact, line) as place,
        count(*) over (partition by home, agent, session_id, reply) as many,
    from spoken
    semi join left_events using (home, agent, session_id, reply)
),

by_reply as (
    select items.artifact, items.line, events.artifact as event_artifact, events.record as event_record, events.utc
    from left_items as items
    join left_events as events using (home, agent, session_id, reply, place)
    where items.many = events.many or place = 1
)

from by_prompt
union all by name
from by_reply
