-- Grain: one row per row of a secondary source that repeats a row of a primary one. Key: artifact, sequence.
-- Equal text of the same side of a talk, in the same session where the secondary row names one; the nearest in time.
with
secondary as (
    select
        places.home,
        places.agent,
        places.twin_rule,
        rows.artifact,
        rows.sequence,
        rows.turn_type,
        rows.text,
        rows.named_session,
        rows.own_utc as utc,
    from rows
    join places using (artifact)
    where places.twin_rule is not null and rows.kind = 'message'
),

-- What is said twice is said in chats: no secondary source tells of a session that is a folder.
of_sessions as (
    select
        sessions.home,
        sessions.agent,
        rows.artifact,
        rows.sequence,
        rows.turn_type,
        rows.text,
        sessions.session_id,
        coalesce(rows.own_utc, sessions.rows_utc) as utc,
        false as is_event,
    from rows
    join session_places as sessions using (artifact)
    where rows.kind = 'message' and rows.text in (select text from secondary) and not sessions.is_folder
),

-- What a person typed to run a command is no message of the session.
typed as (
    select
        sessions.home,
        sessions.agent,
        calls.artifact,
        call_rows.sequence,
        'user' as turn_type,
        calls.typed as text,
        sessions.session_id,
        sessions.rows_utc as utc,
        false as is_event,
    from calls
    join call_rows using (artifact, call_no)
    join session_places as sessions using (artifact)
    where calls.typed is not null
),

of_events as (
    select
        places.home,
        places.agent,
        rows.artifact,
        rows.sequence,
        rows.turn_type,
        rows.text,
        rows.named_session as session_id,
        rows.own_utc as utc,
        true as is_event,
    from rows
    join places using (artifact)
    semi join exchanges on exchanges.artifact = rows.artifact and exchanges.record = rows.record
    where rows.kind = 'message' and rows.text in (select text from secondary)
),

primary_rows as (
    from of_sessions
    union all by name
    from typed
    union all by name
    from of_events
),

candidates as (
    select
        secondary.artifact,
        secondary.sequence,
        secondary.twin_rule,
        secondary.utc,
        twins.artifact as twin_artifact,
        twins.sequence as twin_sequence,
        twins.is_event,
        date_diff('millisecond', twins.utc, secondary.utc) as ms_apart,
    from secondary
    join primary_rows as twins using (home, agent, turn_type, text)
    where (secondary.named_session is null or secondary.named_session = twins.session_id)
        and case secondary.twin_rule
            when 'history' then not twins.is_event and twins.utc is not null
            when 'log' then not twins.is_event
            else true
        end
)

select
    artifact,
    sequence,
    twin_rule,
    utc,
    twin_artifact,
    twin_sequence,
    ms_apart / 1000.0 as seconds_apart,
from candidates
qualify row_number() over (
    partition by artifact, sequence
    order by
        is_event desc,
        abs(ms_apart) nulls last,
        case when twin_rule = 'history' then -twin_sequence else twin_sequence end,
        twin_artifact
) = 1
