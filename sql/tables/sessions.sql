-- Grain: one row per session file that can be read or that the index knows, and per index entry without a file.
-- Key: session_key.
with
counted as (
    select
        artifact,
        min(event_utc) as first_event_utc,
        max(event_utc) as last_event_utc,
        count(*) filter (kind = 'message' and turn_type = 'user') as user_turns,
        count(*) filter (kind = 'message' and turn_type = 'assistant') as assistant_turns,
        count(*) filter (kind = 'tool_call') as tool_calls,
    from keyed_rows
    group by all
),

first_named as (
    select artifact, model, min(sequence) as sequence from keyed_rows where model is not null group by all
),

named as (select artifact, list(model order by sequence) as models from first_named group by all),

lost as (select distinct artifact from faults where text is not null),

of_files as (
    select
        sessions.artifact,
        sessions.session_key,
        sessions.session_id,
        sessions.file_id,
        sessions.title,
        sessions.project_path,
        sessions.workspace_directory,
        sessions.mode,
        named.models,
        coalesce(sessions.session_utc, places.mtime_utc) as started_utc,
        case
            when sessions.session_utc is not null then 'session'
            when places.mtime_utc is not null then 'file'
        end as started_basis,
        counted.first_event_utc,
        counted.last_event_utc,
        coalesce(counted.user_turns, 0) as user_turns,
        coalesce(counted.assistant_turns, 0) as assistant_turns,
        coalesce(counted.tool_calls, 0) as tool_calls,
        sessions.prompt_tokens,
        sessions.completion_tokens,
        sessions.cached_tokens,
        sessions.total_cost_usd,
        sessions.message_count as index_message_count,
        true as has_file,
        sessions.in_index,
        sessions.compacted,
        sessions.scratch,
        lost.artifact is not null as damaged,
        sessions.integration_type,
    from session_places as sessions
    join places using (artifact)
    left join counted using (artifact)
    left join named using (artifact)
    left join lost using (artifact)
    where sessions.is_readable or sessions.in_index
),

-- An entry that is the entry of no file is that of a deleted session.
of_entries as (
    select
        indexed.artifact,
        key_of(places.identity, indexed.agent, concat(chr(0), indexed.session_id)) as session_key,
        indexed.session_id,
        null::varchar as file_id,
        indexed.title,
        indexed.project_path,
        indexed.workspace_directory,
        null::varchar as mode,
        null::varchar[] as models,
        indexed.created_utc as started_utc,
        case when indexed.created_utc is not null then 'session' end as started_basis,
        null::timestamp_ms as first_event_utc,
        null::timestamp_ms as last_event_utc,
        0 as user_turns,
        0 as assistant_turns,
        0 as tool_calls,
        null::bigint as prompt_tokens,
        null::bigint as completion_tokens,
        null::bigint as cached_tokens,
        null::double as total_cost_usd,
        indexed.message_count as index_message_count,
        false as has_file,
        true as in_index,
        false as compacted,
        indexed.scratch,
        false as damaged,
        indexed.integration_type,
    from indexed
    join places using (artifact)
    anti join session_places as sessions
        on sessions.home = indexed.home
        and sessions.agent = indexed.agent
        and (sessions.file_id = indexed.session_id or sessions.entry_id = indexed.session_id)
),

found as (from of_files union all by name from of_entries)

select
    places.host,
    places."user",
    places.agent,
    found.session_key,
    found.session_id,
    found.file_id,
    found.title,
    found.project_path,
    nullif(regexp_extract(found.project_path, '([^/\\]+)[/\\]*$', 1), '') as project_name,
    found.workspace_directory,
    found.mode,
    found.models,
    found.started_utc,
    found.started_basis,
    found.first_event_utc,
    found.last_event_utc,
    found.user_turns,
    found.assistant_turns,
    found.tool_calls,
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
    places.source,
    places.source_file,
    places.home_path,
    places.collection_id,
    true as current,
from found
join places using (artifact)
