-- Grain: one row per artifact of a session: the session's own file, readable or not, or a file of its folder.
-- Key: artifact. The fields are the session's, so that the files of one folder agree.
-- A file that gave neither a session nor a loss is none (a copy of the index), unless it is there and was left out.
-- A session's entry is the one whose id is the name of its file or folder, else the one of its inner id.
with
lost as (select distinct artifact from faults where text is not null),

held as (
    select
        places.*,
        places.session_path <> places.home_path as is_folder,
        session_files.artifact is not null as is_readable,
        session_files.* exclude (artifact),
        -- Of the files of a folder the better transcript tells first, where it holds a message.
        case when session_files.messages > 0 then 0 when is_readable then 1 else 2 end * 2147483648
            + places.artifact as rank,
    from places
    left join session_files using (artifact)
    left join lost using (artifact)
    where places.session_path is not null
        and (
            session_files.artifact is not null or lost.artifact is not null or places.status in ('skipped', 'missing')
        )
),

told as (
    select
        home,
        agent,
        session_path,
        session_key,
        session_name,
        is_folder,
        bool_or(is_readable) as is_readable,
        arg_min(artifact, rank) as first_artifact,
        arg_min(nullif(session_id, ''), rank) as own_id,
        arg_min(title, rank) as title,
        arg_min(workspace_directory, rank) as workspace_directory,
        arg_min(project_path, rank) as project_path,
        arg_min(mode, rank) as mode,
        arg_min(prompt_tokens, rank) as prompt_tokens,
        arg_min(completion_tokens, rank) as completion_tokens,
        arg_min(cached_tokens, rank) as cached_tokens,
        arg_min(total_cost_usd, rank) as total_cost_usd,
        bool_or(coalesce(compacted, false)) as compacted,
        bool_or(coalesce(scratch, false)) as scratch,
        arg_min(first_utc, rank) as first_utc,
        arg_min(first_text, rank) as first_text,
        max(mtime_utc) as mtime_utc,
    from held
    group by all
),

listed as (
    select
        told.*,
        coalesce(by_name.session_id, by_id.session_id) as entry_id,
    from told
    left join indexed as by_name
        on by_name.home = told.home and by_name.agent = told.agent and by_name.session_id = told.session_name
    left join indexed as by_id
        on by_id.home = told.home and by_id.agent = told.agent and by_id.session_id = told.own_id
)

select
    held.artifact,
    listed.home,
    listed.agent,
    listed.first_artifact,
    listed.is_folder,
    listed.is_readable,
    listed.session_key,
    case when not listed.is_folder then listed.session_name end as file_id,
    listed.session_name,
    listed.entry_id,
    coalesce(listed.own_id, listed.entry_id, listed.session_name) as session_id,
    coalesce(
        nullif(listed.title, ''), nullif(indexed.title, ''), listed.first_text, listed.title, indexed.title
    ) as title,
    case
        when listed.is_folder then coalesce(indexed.workspace_directory, listed.workspace_directory)
        else coalesce(nullif(listed.workspace_directory, ''), indexed.workspace_directory, listed.workspace_directory)
    end as workspace_directory,
    case
        when listed.is_folder then coalesce(indexed.project_path, listed.project_path)
        else coalesce(listed.project_path, indexed.project_path)
    end as project_path,
    listed.mode,
    listed.prompt_tokens,
    listed.completion_tokens,
    listed.cached_tokens,
    listed.total_cost_usd,
    listed.compacted,
    listed.scratch
        or (nullif(listed.workspace_directory, '') is null and coalesce(indexed.scratch, false)) as scratch,
    listed.mtime_utc,
    coalesce(listed.first_utc, indexed.created_utc) as session_utc,
    case when listed.first_utc is not null then 'record' else indexed.basis end as session_basis,
    -- The records of a folder have their own times: one without has none.
    case when not listed.is_folder then indexed.created_utc end as rows_utc,
    indexed.message_count,
    indexed.integration_type,
    indexed.session_id is not null as in_index,
from held
join listed using (home, agent, session_path)
left join indexed
    on indexed.home = listed.home and indexed.agent = listed.agent and indexed.session_id = listed.entry_id
