-- Grain: one row per session file that can be read or that a list knows, per folder of a task, per entry of a list
-- without either, and per session that events alone name. Key: session_key. What they state: `sql/merged/` counts.
with
said as (
    select session_key, sha256(string_agg(said, '' order by place)) as content_hash from talks group by all
),

damaged as (
    select distinct sessions.session_key
    from faults
    join session_places as sessions using (artifact)
    where faults.text is not null
),

of_files as (
    select
        sessions.home,
        sessions.artifact,
        sessions.session_key,
        sessions.session_id,
        sessions.file_id,
        sessions.title,
        sessions.project_path,
        sessions.workspace_directory,
        sessions.mode,
        coalesce(sessions.session_utc, sessions.mtime_utc) as started_utc,
        case
            when sessions.session_utc is not null then sessions.session_basis
            when sessions.mtime_utc is not null then 'file'
        end as started_basis,
        sessions.prompt_tokens,
        sessions.completion_tokens,
        sessions.cached_tokens,
        sessions.total_cost_usd,
        sessions.message_count as index_message_count,
        true as has_file,
        sessions.in_index,
        sessions.compacted,
        sessions.scratch,
        damaged.session_key is not null as damaged,
        sessions.integration_type,
        case
            when places.resume is not null then concat(
                case
                    when nullif(sessions.workspace_directory, '') is not null
                        then concat('cd ', shell_word(sessions.project_path), ' && ')
                end,
                places.resume, ' ', shell_word(sessions.session_id)
            )
        end as resume_command,
    from session_places as sessions
    join places on places.artifact = sessions.artifact
    left join damaged on damaged.session_key = sessions.session_key
    where sessions.artifact = sessions.first_artifact
        and (sessions.is_readable or sessions.in_index or sessions.is_folder)
),

-- Folders of which no file tells anything.
of_folders as (
    select
        folders.home,
        key_of(homes.identity, folders.agent, folders.session_path) as session_key,
        regexp_extract(folders.session_path, '([^/]*)$', 1) as session_id,
        folders.agent,
        folders.session_path as home_path,
        indexed.title,
        indexed.project_path,
        indexed.workspace_directory,
        indexed.created_utc as started_utc,
        case when indexed.created_utc is not null then indexed.basis end as started_basis,
        true as has_file,
        indexed.session_id is not null as in_index,
        false as compacted,
        coalesce(indexed.scratch, false) as scratch,
        false as damaged,
    from folders
    join homes using (home)
    anti join session_places as sessions
        on sessions.session_key = key_of(homes.identity, folders.agent, folders.session_path)
    left join indexed
        on indexed.home = folders.home
        and indexed.agent = folders.agent
        and indexed.session_id = regexp_extract(folders.session_path, '([^/]*)$', 1)
),

of_entries as (
    select
        home,
        artifact,
        session_key,
        session_id,
        title,
        project_path,
        workspace_directory,
        created_utc as started_utc,
        case when created_utc is not null then basis end as started_basis,
        message_count as index_message_count,
        false as has_file,
        true as in_index,
        false as compacted,
        scratch,
        false as damaged,
        integration_type,
    from entry_sessions
),

of_events as (
    select
        home,
        artifact,
        session_key,
        session_id,
        first_utc as started_utc,
        case when first_utc is not null then 'record' end as started_basis,
        false as has_file,
        false as in_index,
        false as compacted,
        false as scratch,
        false as damaged,
    from named_sessions
    where is_unlisted
),

found as (
    from of_files
    union all by name
    from of_folders
    union all by name
    from of_entries
    union all by name
    from of_events
)

select
    homes.host,
    homes."user",
    coalesce(places.agent, found.agent) as agent,
    found.session_key,
    found.session_id,
    found.file_id,
    found.title,
    found.project_path,
    nullif(regexp_extract(found.project_path, '([^/\\]+)[/\\]*$', 1), '') as project_name,
    found.workspace_directory,
    found.mode,
    found.started_utc,
    found.started_basis,
    found.prompt_tokens,
    found.completion_tokens,
    found.cached_tokens,
    found.total_cost_usd,
    found.index_message_count,
    found.has_file,
    found.in_index,
    found.compacted,
    found.scratch,
    found.damaged,
    found.integration_type,
    forks.forked_from,
    forks.forked_at_item,
    said.content_hash,
    found.resume_command,
    places.source,
    places.source_file,
    coalesce(places.home_path, found.home_path) as home_path,
    found.home::varchar as collection_id,
    true as current,
from found
join homes using (home)
left join places on places.artifact = found.artifact
left join said on said.session_key = found.session_key
left join forks on forks.session_key = found.session_key
