-- Grain: one row per session, and per host, user and assistant one that stands for none: every fact has its
-- `session_key` here.
with
places as (
    select distinct host, "user", agent from artifacts
),

nowhere as (
    select
        concat('none-', md5(concat(agent, chr(0) || 'h' || host, chr(0) || 'u' || "user"))) as session_key,
        host,
        "user",
        agent,
        '(no session)' as title,
        true as is_unknown,
        false as is_deleted,
        false as compacted,
        false as damaged,
        false as scratch,
        false as is_fork,
        false as is_copy,
        true as current,
    from places
),

known as (
    select
        sessions.session_key,
        host,
        "user",
        agent,
        session_id,
        title,
        project_path,
        project_name,
        mode,
        models[1] as first_model,
        started_utc,
        started_basis,
        false as is_unknown,
        has_file,
        in_index,
        -- What is left in a list, or of its events, after the file of a session went is no second deletion.
        sessions.session_key in (select gone.session_key from sessions_deleted as gone) as is_deleted,
        deleted_between[1]::date as deleted_after,
        deleted_between[2]::date as deleted_before,
        compacted,
        damaged,
        scratch,
        forked_from is not null as is_fork,
        coalesce(copies.is_copy, false) as is_copy,
        current,
    from sessions
    left join (select session_key, copy > 1 as is_copy from session_copies) as copies
        on copies.session_key = sessions.session_key
),

found as (
    from known
    union all by name
    from nowhere
)

select
    session_key,
    host,
    "user",
    agent,
    session_id,
    title,
    project_path,
    project_name,
    mode,
    first_model,  -- First model that the session names.
    started_utc,
    started_utc::date as started_date,  -- Day of the start (UTC).
    date_trunc('week', started_utc)::date as started_week,  -- Monday of that day's week.
    started_basis,
    is_unknown,  -- True for the rows that stand for no session: what a host, a user and an assistant did outside of one.
    has_file,
    in_index,
    is_deleted,  -- Whether it is gone: it has no file but a list's entry or events, or a later collection lacks it.
    deleted_after,  -- Day of the last collection that had its file or folder (UTC).
    deleted_before,  -- Day of the next collection, which lacks it (UTC).
    compacted,
    damaged,
    scratch,
    is_fork,  -- Whether it goes on from an earlier session, whose messages are its first ones.
    is_copy,  -- Whether its messages are all those of another session, which counts as the first one.
    current,
from found
