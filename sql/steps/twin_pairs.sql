-- Grain: one row per row of a secondary source that repeats a row of a primary one. Key: artifact, sequence.
-- Equal text of the same side of a talk, in the same session where the secondary row names one; the nearest in time.
with
repeating as (
    select
        places.home,
        places.agent,
        places.twin_rule,
        rows.artifact,
        rows.sequence,
        rows.turn_type,
        -- What a row hides its twin shows.
        coalesce(rows.unmasked, rows.text) as text,
        -- A row without a session is one of any.
        coalesce(names.session_id, rows.named_session, chr(0)) as scope,
        rows.own_utc as utc,
    from rows
    join places using (artifact)
    left join file_names as names
        on names.home = places.home and names.agent = places.agent and names."name" = rows.named_session
    where places.twin_rule is not null and rows.kind = 'message'
),

-- From here on the number of what is said stands for it.
said as materialized (
    select row_number() over () as said, *
    from (select distinct home, agent, turn_type, text, scope from repeating)
),

secondary as (
    select said.said, repeating.artifact, repeating.sequence, repeating.twin_rule, repeating.utc
    from repeating
    join said using (home, agent, turn_type, text, scope)
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
    where rows.kind = 'message' and rows.text in (select text from repeating) and not sessions.is_folder
),

-- White space behind the mark is no part of the command.
commands as (
    select distinct text, regexp_replace(text, '^!\s+', '!') as typed from repeating where starts_with(text, '!')
),

-- What a person typed to run a command is no message of the session.
typed as (
    select
        sessions.home,
        sessions.agent,
        calls.artifact,
        call_rows.sequence,
        'user' as turn_type,
        commands.text,
        sessions.session_id,
        sessions.rows_utc as utc,
        false as is_event,
    from calls
    join commands using (typed)
    join call_rows using (artifact, call_no)
    join session_places as sessions using (artifact)
),

of_events as (
    select
        places.home,
        places.agent,
        rows.artifact,
        rows.sequence,
        rows.turn_type,
        rows.text,
        coalesce(names.session_id, rows.named_session) as session_id,
        rows.own_utc as utc,
        true as is_event,
    from rows
    join places using (artifact)
    left join file_names as names
        on names.home = places.home and names.agent = places.agent and names."name" = rows.named_session
    semi join exchanges on exchanges.artifact = rows.artifact and exchanges.record = rows.record
    where rows.kind = 'message' and rows.text in (select text from repeating)
),

primary_rows as (
    from of_sessions
    union all by name
    from typed
    union all by name
    from of_events
),

scoped as (
    select *, session_id as scope from primary_rows where session_id is not null
    union all by name
    select *, chr(0) as scope from primary_rows
),

-- What is said over and over is looked at once a moment: a history means the last of a file, the others the first.
moments as (
    select
        said.said,
        is_event,
        utc,
        min({'place': sequence, 'artifact': artifact}) as first_one,
        min({'place': -sequence, 'artifact': artifact}) as last_one,
    from scoped
    join said using (home, agent, turn_type, text, scope)
    group by all
),

timed as (from moments where utc is not null),

whole as (
    select
        said,
        is_event,
        min(first_one) as first_one,
        min(last_one) filter (utc is not null) as last_one,
    from moments
    group by all
),

asked as (
    select distinct
        said,
        twin_rule,
        utc,
        unnest(case when twin_rule in ('history', 'log') then [false] else [true, false] end) as is_event,
    from secondary
),

-- The nearest before, the nearest behind, and one without a time, for where there is none.
candidates as (
    select asked.*, timed.utc as twin_utc, timed.first_one, timed.last_one
    from asked
    asof join timed
        on timed.said = asked.said and timed.is_event = asked.is_event and timed.utc <= asked.utc
    union all by name
    select asked.*, timed.utc as twin_utc, timed.first_one, timed.last_one
    from asked
    asof join timed
        on timed.said = asked.said and timed.is_event = asked.is_event and timed.utc >= asked.utc
    union all by name
    select asked.*, whole.first_one, whole.last_one
    from asked
    join whole using (said, is_event)
),

answers as (
    select
        said,
        twin_rule,
        utc,
        case when twin_rule = 'history' then last_one else first_one end as twin,
        date_diff('millisecond', twin_utc, utc) as ms_apart,
    from candidates
    where twin is not null
    qualify row_number() over (
        partition by said, twin_rule, utc
        order by is_event desc, abs(ms_apart) nulls last, twin
    ) = 1
)

select
    secondary.artifact,
    secondary.sequence,
    secondary.twin_rule,
    secondary.utc,
    answers.twin.artifact as twin_artifact,
    abs(answers.twin.place) as twin_sequence,
    answers.ms_apart / 1000.0 as seconds_apart,
from secondary
join answers
    on answers.said = secondary.said and answers.twin_rule = secondary.twin_rule
    and answers.utc is not distinct from secondary.utc
