-- Grain: one row per artifact that is a session file, readable or not. Key: artifact.
-- A file that gave neither a session nor a loss is none (a copy of the index).
-- Its entry is the one whose id is the file's name, else the one of its inner id.
with
lost as (select distinct artifact from faults where text is not null),

matched as (
    select
        places.*,
        session_files.artifact is not null as is_readable,
        session_files.* exclude (artifact, session_id),
        nullif(session_files.session_id, '') as own_id,
        coalesce(by_name.session_id, by_id.session_id) as entry_id,
    from places
    left join session_files using (artifact)
    left join lost using (artifact)
    left join indexed as by_name
        on by_name.home = places.home and by_name.agent = places.agent and by_name.session_id = places.file_id
    left join indexed as by_id
        on by_id.home = places.home and by_id.agent = places.agent and by_id.session_id = session_files.session_id
    where places.is_session and (session_files.artifact is not null or lost.artifact is not null)
)

select
    matched.artifact,
    matched.home,
    matched.agent,
    matched.is_readable,
    matched.file_key as session_key,
    matched.file_id,
    matched.entry_id,
    coalesce(matched.own_id, matched.entry_id, matched.file_id) as session_id,
    coalesce(nullif(matched.title, ''), indexed.title, matched.title) as title,
    coalesce(nullif(matched.workspace_directory, ''), indexed.workspace_directory, matched.workspace_directory)
        as workspace_directory,
    coalesce(matched.project_path, indexed.project_path) as project_path,
    matched.mode,
    matched.prompt_tokens,
    matched.completion_tokens,
    matched.cached_tokens,
    matched.total_cost_usd,
    coalesce(matched.compacted, false) as compacted,
    coalesce(matched.scratch, false)
        or (nullif(matched.workspace_directory, '') is null and coalesce(indexed.scratch, false)) as scratch,
    indexed.created_utc as session_utc,
    indexed.message_count,
    indexed.integration_type,
    indexed.session_id is not null as in_index,
from matched
left join indexed
    on indexed.home = matched.home and indexed.agent = matched.agent and indexed.session_id = matched.entry_id
